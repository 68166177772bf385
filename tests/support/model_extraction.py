"""An extractor that asks a scripted model, and the answers of that model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from memory.domain.types import Candidate, MemoryType, Participants, Role, SourceMessage
from memory.understanding.asked_model import AskedModel
from memory.understanding.model_extractor import ModelExtractor
from memory.understanding.ports import Extractor
from routing.clients.structured_calls import StructuredCompletions
from tests.support.openai_server import Behaviour, FakeOpenAI, answer

SARAH = Participants(user="Sarah", agent="kyra")
START = datetime(2026, 2, 9, 9, 4, tzinfo=UTC)
Json = dict[str, object]
NOBODY = AskedModel(completions=StructuredCompletions(base_url="", api_key="", model="fake-model"))


class Rules:
    """Stands for the rules: one candidate for each message, and a record of what was asked."""

    name = "rules"

    def __init__(self) -> None:
        self.extracted: list[UUID] = []
        self.contexts: list[list[UUID]] = []
        self.reviewed: list[UUID] = []

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        self.extracted += [message.id for message in messages]
        self.contexts.append([message.id for message in context])
        return [by_rules(message) for message in messages]

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        self.reviewed += [message.id for message in messages]
        return [replace(by_rules(message), extraction_pass=2) for message in messages]


def by_rules(message: SourceMessage) -> Candidate:
    return Candidate(
        content=f"By rules: {message.content}",
        memory_type=MemoryType.SEMANTIC,
        importance=5,
        confidence=0.5,
        message_ids=(message.id,),
    )


def said(
    number: int, content: str, *, role: Role = Role.USER, name: str = "", minutes: int | None = None
) -> SourceMessage:
    after = timedelta(minutes=number - 1 if minutes is None else minutes)
    return SourceMessage(
        id=UUID(int=number),
        position=number,
        role=role,
        content=content,
        created_at=START + after,
        name=name,
    )


def chat(count: int) -> list[SourceMessage]:
    return [said(number, f"My fact number {number} is here.") for number in range(1, count + 1)]


def proposal(content: str = "Sarah prefers tea to coffee.", **fields: object) -> Json:
    return {
        "content": content,
        "type": "semantic",
        "audience": "person",
        "messages": [1],
        "importance": 6,
        "confidence": 0.9,
        "subject": "user.preference.drink",
        "category": "preferences",
        "sensitive_field": "none",
        "valid_from": "",
        "valid_to": "",
        **fields,
    }


def found(*proposals: Json) -> Behaviour:
    return answer({"memories": list(proposals)})


def extractor(
    server: FakeOpenAI,
    fallback: Extractor | None = None,
    *,
    window_messages: int = 40,
    overlap: int = 4,
    reviewer: AskedModel | None = None,
) -> ModelExtractor:
    return ModelExtractor(
        model=asked(server),
        fallback=fallback or Rules(),
        window_messages=window_messages,
        overlap=overlap,
        reviewer=reviewer,
    )


def asked(
    server: FakeOpenAI,
    *,
    model: str = "fake-model",
    timeout: float = 2.0,
    monotonic: Callable[[], float] = time.monotonic,
) -> AskedModel:
    completions = StructuredCompletions(
        base_url=server.base_url, api_key="key", model=model, timeout=timeout, max_retries=0
    )
    return AskedModel(completions=completions, monotonic=monotonic)


def extract(
    subject: ModelExtractor,
    messages: Sequence[SourceMessage],
    context: Sequence[SourceMessage] = (),
) -> list[Candidate]:
    return subject.extract(messages=messages, context=context, participants=SARAH)


def one(server: FakeOpenAI, **fields: object) -> list[Candidate]:
    """Returns the candidates that come of one proposal about one message of Sarah's."""
    server.will(found(proposal(**fields)))  # type: ignore[arg-type]
    return extract(extractor(server), [said(1, "I prefer tea to coffee.")])


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake

"""Both passes of an extractor over a range of messages, merged, and who did them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from audit.services.events import Event
from memory.clients.tools import Tools
from memory.domain.ports import TellingExtractor
from memory.domain.text.normalise import normalise_text, tell_apart
from memory.domain.types import Candidate, Participants, PassWork
from memory.services.extraction.extraction import MessageRange, as_source


@dataclass(frozen=True, slots=True)
class Found:
    """What both passes found, and who did each stretch of them."""

    candidates: tuple[Candidate, ...] = ()
    work: tuple[PassWork, ...] = ()


def find_candidates(*, source: MessageRange, tools: Tools) -> Found:
    """Both passes over the range, without what the second only says again; no transaction."""
    messages = [as_source(row) for row in source.messages]
    if not messages:
        return Found()
    context = [as_source(row) for row in source.context]
    conversation = source.conversation
    participants = Participants(
        user=conversation.end_user.display_name, agent=conversation.agent.slug
    )
    work: list[PassWork] = []
    extractor = tools.extractor
    if isinstance(extractor, TellingExtractor):
        extractor = extractor.telling(work.append)
    else:
        work = [PassWork(number, extractor.name) for number in (1, 2)]
    first = extractor.extract(messages=messages, context=context, participants=participants)
    second = extractor.review(
        messages=messages, context=context, participants=participants, first_pass=first
    )
    return Found(tuple(_merge(first, second, tools)), tuple(work))


def stood_in_events(*, source: MessageRange, found: Found) -> list[Event]:
    """One event for each stretch that was done by another than the one asked first."""
    return [
        Event(
            node="extract",
            op="stand_in",
            status="error",
            end_user_id=source.conversation.end_user_id,
            conversation_id=source.conversation.pk,
            meta={
                "pass": each.extraction_pass,
                "extractor": each.extractor,
                "problem": each.problem,
            },
        )
        for each in found.work
        if each.problem
    ]


def _merge(
    first: Sequence[Candidate], second: Sequence[Candidate], tools: Tools
) -> list[Candidate]:
    """The union of both passes; near-equal wordings of one fact (cosine > 0.95) stand once.

    A wording with another number, name or negation, or with the same words in another order
    ("tea over coffee"), is left to the judge, however near its vector.
    """
    candidates = [*first, *second]
    vectors = tools.embedder.embed([candidate.content for candidate in candidates])
    marks = [tell_apart(candidate.content) for candidate in candidates]
    words = [normalise_text(candidate.content).split() for candidate in candidates]
    kept: list[int] = []
    for index in range(len(candidates)):
        nearness = vectors[kept] @ vectors[index] if kept else ()
        if not any(
            near > settings.DUPLICATE_SIMILARITY
            and marks[other] == marks[index]
            and _in_one_order(words[other], words[index])
            for near, other in zip(nearness, kept, strict=True)
        ):
            kept.append(index)
    return [candidates[index] for index in kept]


def _in_one_order(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the words that both have stand in the same order."""
    common = set(one) & set(other)
    return [word for word in one if word in common] == [word for word in other if word in common]

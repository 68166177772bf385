"""An agent's whole system prompt: who it is, what it remembers, what was said so far."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memory.clients.tools import Tools
from memory.domain.plans.assembly import Assembly, assemble
from memory.domain.plans.plan import Text, Written
from memory.domain.plans.prompt import (
    LAYERS,
    SEVEN_LAYERS,
    SEVEN_LAYERS_ABOUT_NOBODY,
    Layer,
    summary_line,
)
from memory.domain.scoring import Weights
from memory.domain.tokens import TokenCounter
from memory.domain.viewer import Viewer
from memory.models import Contradiction
from memory.selectors.revisions import Revision, team_revision
from memory.selectors.searching.signal_rows import SignalRow
from memory.services.compacting.running import running_summary
from memory.services.compacting.summaries import SUMMARY_TAG
from memory.services.reading.agent_words import document_of, texts_of
from memory.services.reading.built_prompts import BuiltPrompt, PromptMemory, PromptStats, layers_of
from memory.services.reading.cascade import Depth, Level
from memory.services.reading.hot_answers import held_answer, keep_answer
from memory.services.reading.hot_keys import hot_key
from memory.services.reading.mixed_users import mixed_users
from memory.services.reading.ranking import Question, Ranked, read
from memory.services.reading.recall import (
    Recalled,
    contradictions_among,
    load_chosen,
    recall,
    signals_hit,
)
from memory.services.reading.turns import in_turn
from memory.services.reading.usage import note_retrieved
from teams.models import Agent, Conversation
from teams.tenancy import team_scope

MEMORY_OFF = "memory is switched off for this team, so the prompt holds none"

logger = logging.getLogger(__name__)


def build_prompt(
    *,
    viewer: Viewer,
    agent: Agent,
    question: Question,
    conversation: Conversation | None,
    weights: Weights,
    token_budget: int,
    tools: Tools,
    counter: TokenCounter,
    now: datetime,
    include_cold: bool | None = None,
    include_raw: bool | None = None,
    is_kept: bool = True,
    is_shown: bool = True,
) -> BuiltPrompt:
    """The seven layers within `token_budget` tokens; over it only by layers 1-3 and what is pinned.

    `conversation` is one the viewer may see; its running summary is layer 7. `include_cold` and
    `include_raw` are those of `cascade.Depth`. Without `is_kept` it is made anew and not kept, for
    a question that nobody asks again; without `is_shown` the memories are not read, but named.
    """
    started = time.perf_counter()
    document = document_of(agent)
    parts = {
        "document": (agent.pk, document),
        "question": question,
        # The summary of the conversation stands while its revision does.
        "conversation": (conversation.pk, conversation.revision) if conversation else None,
        "weights": weights,
        "token_budget": token_budget,
        "include_cold": include_cold,
        "include_raw": include_raw,
        "counter": counter.name,
    }
    key = None
    if is_kept:
        key = hot_key(kind="prompt", viewer=viewer, tools=tools, now=now, parts=parts)
    held = held_answer(key, BuiltPrompt)
    if held is not None:
        note_retrieved(team_id=viewer.team_id, memory_ids=held.memory_ids, now=now)
        kept = held.answer
        return replace(kept, stats=kept.stats.again(total_ms=_milliseconds(started)))
    asked = read(question, team_id=viewer.team_id, tools=tools, now=now)
    with (
        in_turn(),
        team_scope(team_ids=[viewer.team_id], actor=viewer.actor, is_planned_once=True),
    ):
        revision = team_revision(team_id=viewer.team_id)
        summary = running_summary(conversation=conversation) if conversation is not None else ""
        recalled = recall(
            viewer=viewer,
            question=asked,
            weights=weights,
            token_budget=token_budget,
            depth=Depth(include_cold, include_raw),
            tools=tools,
            now=now,
            revision=revision,
        )
        searched = time.perf_counter()
        assembly = recalled.assembled(
            plan=SEVEN_LAYERS if viewer.end_user_id else SEVEN_LAYERS_ABOUT_NOBODY,
            apart_from=_summaries(recalled, conversation) if summary else (),
            texts=[
                *texts_of(document),
                Text(Layer.SUMMARY, Written(summary_line(summary, counter=counter))),
                *recalled.quotes(section=Layer.RETRIEVED),
            ],
            token_budget=token_budget,
            counter=counter,
        )
        keys = {each.entry.key for each in assembly.told}
        told = [each for each in recalled.ranked if each.row.memory_id in keys]
        memories: tuple[PromptMemory, ...] = ()
        contradictions: Sequence[Contradiction] = ()
        if is_shown:
            memories = _memories(viewer, told, assembly, revision)
            chosen = [each.scored for each in memories]
            contradictions = contradictions_among(viewer=viewer, recalled=recalled, chosen=chosen)
    ids = tuple(each.row.memory_id for each in told)
    owners = [each.row.end_user_id for each in told]
    for warning in assembly.warnings:
        logger.warning("A prompt of agent %s: %s.", agent.pk, warning)
    note_retrieved(team_id=viewer.team_id, memory_ids=ids, now=now)
    ended = time.perf_counter()
    built = BuiltPrompt(
        prompt=assembly.prompt,
        layers=layers_of(assembly),
        told=ids,
        similarity=max((float(each.table.cosine[each.place]) for each in told), default=None),
        memories=memories,
        messages=recalled.quoted(assembly.quoted),
        contradictions=contradictions,
        warnings=(*asked.warnings, *assembly.warnings, *mixed_users(viewer=viewer, of=owners)),
        stats=PromptStats(
            tokens_used=assembly.tokens_used,
            token_budget=token_budget,
            token_counter=counter.name,
            signals_hit=signals_hit([each.scored for each in memories]),
            duplicates=len(assembly.duplicates),
            total_ms=_milliseconds(started, ended),
            steps_ms={
                "search": _milliseconds(started, searched),
                "pack": _milliseconds(searched, ended),
            },
            searched=recalled.searched,
        ),
    )
    if asked.has_vector:
        keep_answer(
            key,
            answer=built,
            revision=revision,
            read_messages=Level.RAW in recalled.searched,
        )
    return built


def prompt_without_memory(*, agent: Agent, token_budget: int, counter: TokenCounter) -> BuiltPrompt:
    """The prompt of an agent whose team has memory switched off: its document, and a warning."""
    started = time.perf_counter()
    assembly = assemble(
        plan=SEVEN_LAYERS,
        entries=[],
        texts=texts_of(document_of(agent)),
        token_budget=token_budget,
        counter=counter,
    )
    return BuiltPrompt(
        prompt=assembly.prompt,
        layers=layers_of(assembly),
        told=(),
        similarity=None,
        memories=(),
        messages=(),
        contradictions=(),
        warnings=(*assembly.warnings, MEMORY_OFF),
        stats=PromptStats(
            tokens_used=assembly.tokens_used,
            token_budget=token_budget,
            token_counter=counter.name,
            signals_hit={},
            duplicates=0,
            total_ms=_milliseconds(started),
            steps_ms={},
        ),
    )


def _summaries(recalled: Recalled, conversation: Conversation | None) -> set[UUID]:
    """The candidates that are summaries for which layer 7 stands already."""
    return {
        each.row.memory_id
        for each in recalled.ranked
        if conversation is not None and _is_summary_of(each.row, conversation)
    }


def _is_summary_of(row: SignalRow, conversation: Conversation) -> bool:
    return (
        not row.is_pinned
        and SUMMARY_TAG in (row.tags or ())
        and row.conversation_id == conversation.pk
    )


def _memories(
    viewer: Viewer, told: Sequence[Ranked], assembly: Assembly, revision: Revision | None
) -> tuple[PromptMemory, ...]:
    layers = {told.entry.key: LAYERS.index(Layer(told.section)) + 1 for told in assembly.told}
    tokens = {told.entry.key: told.tokens for told in assembly.told}
    chosen = load_chosen(viewer=viewer, ranked=told, tokens=tokens, revision=revision)
    return tuple(PromptMemory(scored=each, layer=layers[each.id]) for each in chosen)


def _milliseconds(start: float, end: float | None = None) -> float:
    return round(((end or time.perf_counter()) - start) * 1000, 3)

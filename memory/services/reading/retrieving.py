"""A new answer of `retrieve`: recall, budget, prompt, and the memories that are in it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import datetime

from memory.clients.tools import Tools
from memory.domain.plans.retrieval import RETRIEVAL, RETRIEVAL_ABOUT_NOBODY
from memory.domain.scoring import Weights
from memory.domain.tokens import ESTIMATE, TokenCounter
from memory.domain.viewer import Viewer
from memory.selectors.revisions import Revision, team_revision
from memory.services.reading.answers import Retrieval, RetrievalStats
from memory.services.reading.cascade import Depth, Level
from memory.services.reading.hot_keys import HotKey, hot_key
from memory.services.reading.mixed_users import mixed_users
from memory.services.reading.ranking import Question, read
from memory.services.reading.recall import contradictions_among, load_chosen, recall, signals_hit
from memory.services.reading.turns import in_turn
from memory.services.reading.usage import note_retrieved
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question, who asks it and what the answer has room for.

    `include_cold` and `include_raw` are those of `cascade.Depth`; `revision` is the team's at any
    moment since somebody began to ask, None where it is to be read.
    """

    viewer: Viewer
    question: Question
    weights: Weights
    token_budget: int
    limit: int | None
    include_cold: bool | None = None
    include_raw: bool | None = None
    counter: TokenCounter = ESTIMATE
    revision: Revision | None = None

    def key(self, kind: str, *, tools: Tools, now: datetime) -> HotKey | None:
        """Where its answer of that kind is kept."""
        parts = {
            "question": self.question,
            "weights": self.weights,
            "token_budget": self.token_budget,
            "limit": self.limit,
            "include_cold": self.include_cold,
            "include_raw": self.include_raw,
            "counter": self.counter.name,
        }
        return hot_key(kind=kind, viewer=self.viewer, tools=tools, now=now, parts=parts)


@dataclass(frozen=True, slots=True)
class Made:
    """A new answer; `revision` is that of what it was made of, None where it may not be kept."""

    found: Retrieval
    revision: Revision | None

    @property
    def read_messages(self) -> bool:
        """Whether messages may have had a part in it."""
        return Level.RAW in self.found.stats.searched


def make(wanted: Wanted, *, tools: Tools, now: datetime, started: float) -> Made:
    """A new answer; `started` is when somebody began to ask, on the clock of `milliseconds`."""
    viewer = wanted.viewer
    asked = read(wanted.question, team_id=viewer.team_id, tools=tools, now=now)
    with (
        in_turn(),
        team_scope(team_ids=[viewer.team_id], actor=viewer.actor, is_planned_once=True),
    ):
        revision = wanted.revision or team_revision(team_id=viewer.team_id)
        recalled = recall(
            viewer=viewer,
            question=asked,
            weights=wanted.weights,
            token_budget=wanted.token_budget,
            depth=Depth(wanted.include_cold, wanted.include_raw),
            tools=tools,
            now=now,
            revision=revision,
        )
        searched = time.perf_counter()
        assembly = recalled.assembled(
            plan=RETRIEVAL if viewer.end_user_id else RETRIEVAL_ABOUT_NOBODY,
            texts=recalled.quotes(section="rest"),
            token_budget=wanted.token_budget,
            counter=wanted.counter,
            limit=wanted.limit,
            best_first=True,
        )
        tokens = {each.entry.key: each.tokens for each in assembly.told}
        told = [each for each in recalled.ranked if each.row.memory_id in tokens]
        chosen = load_chosen(viewer=viewer, ranked=told, tokens=tokens, revision=revision)
        contradictions = contradictions_among(viewer=viewer, recalled=recalled, chosen=chosen)
    for warning in assembly.warnings:
        logger.warning("A prompt of team %s: %s.", viewer.team_id, warning)
    ids = [each.id for each in chosen]
    owners = [each.row.end_user_id for each in told]
    note_retrieved(team_id=viewer.team_id, memory_ids=ids, now=now)
    ended = time.perf_counter()
    stats = RetrievalStats(
        tokens_used=assembly.tokens_used,
        token_budget=wanted.token_budget,
        signals_hit=signals_hit(chosen),
        cache_hit=False,
        total_ms=milliseconds(started, ended),
        steps_ms={
            "search": milliseconds(started, searched),
            "pack": milliseconds(searched, ended),
        },
        warnings=(*asked.warnings, *assembly.warnings, *mixed_users(viewer=viewer, of=owners)),
        token_counter=wanted.counter.name,
        searched=recalled.searched,
    )
    found = Retrieval(
        memories=chosen,
        messages=recalled.quoted(assembly.quoted),
        formatted_prompt=assembly.prompt,
        contradictions=contradictions,
        stats=stats,
    )
    # What words alone decided, while the embedder was away, is not worth keeping.
    return Made(found, revision if asked.has_vector else None)


def milliseconds(start: float, end: float | None = None) -> float:
    """Between two moments of `time.perf_counter`, until now without the second."""
    return round(((end or time.perf_counter()) - start) * 1000, 3)

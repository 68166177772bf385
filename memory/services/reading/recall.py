"""What a plan may show for a question: ranked candidates as lines, and the conflicts among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from memory.clients.tools import Tools
from memory.domain.plans.assembly import Assembly, assemble
from memory.domain.plans.plan import Entry, Plan, Text, Written
from memory.domain.rendering import SAID_HEADING, Opposite
from memory.domain.said import excerpt
from memory.domain.said_lines import SaidLine
from memory.domain.scoring import Signals, Weights
from memory.domain.tokens import TokenCounter
from memory.domain.types import Status
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.selectors.contradictions import open_contradictions_among
from memory.selectors.revisions import Revision
from memory.selectors.showing.loading import rows_by_id
from memory.selectors.showing.shown_rows import ShownRow
from memory.services.reading.cascade import (
    Depth,
    Level,
    descend,
    level_of,
)
from memory.services.reading.clashes import Clash, clashes_within
from memory.services.reading.fitting import that_could_fit
from memory.services.reading.lines import line_of
from memory.services.reading.opposites import opposites_among
from memory.services.reading.ranking import Ranked, ReadQuestion, by_policy
from memory.services.reading.scored_messages import ScoredMessage, load_messages
from memory.services.reading.successors import told_alone
from teams.services.flags import flags_of_id

# So many times the budget is handed to a plan, which leaves out what repeats and what is too long:
# at first little more than fits, and all of it where that leaves room for another line.
SPARE = 2.0
_AT_FIRST = 1.1
_A_LINE = 24
# A prompt quotes at most so many messages; each takes up to some 120 tokens.
MOST_QUOTED = 20


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory with its score 0-1, the signals behind it, and its rendered size in tokens."""

    row: ShownRow
    score: float
    signals: Signals
    tokens: int = 0

    @property
    def id(self) -> UUID:
        """The memory's."""
        return self.row.id

    @property
    def memory(self) -> Memory:
        """The memory, made when it is first looked at."""
        return self.row.memory

    @property
    def level(self) -> Level:
        """Where it comes from."""
        return level_of(self.memory)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a plan may show: the candidates, best first, and the conflicts among them.

    `opposites` are the texts that a candidate contradicts, `messages` are what was said that no
    better memory says, `searched` the levels looked at and `words` those of the question. `ends`
    names what took the place of a past candidate.
    """

    ranked: list[Ranked]
    opposites: Mapping[UUID, tuple[Opposite, ...]]
    clashes: list[Clash]
    messages: list[ScoredMessage]
    searched: tuple[Level, ...]
    words: tuple[str, ...]
    ends: Mapping[UUID, UUID]

    def assembled(
        self,
        *,
        plan: Plan,
        texts: Sequence[Text],
        token_budget: int,
        counter: TokenCounter,
        limit: int | None = None,
        apart_from: Collection[UUID] = (),
        best_first: bool = False,
    ) -> Assembly:
        """The plan's prompt of the candidates and texts, without the memories of those ids.

        `best_first` is for a plan that fills its budget by score alone: what cannot matter is not
        even written down. What is past is not told without what took its place.
        """
        ranked = [each for each in self.ranked if each.row.memory_id not in apart_from]
        likely = ranked
        if best_first:
            likely = that_could_fit(ranked, token_budget=int(_AT_FIRST * token_budget))
        while True:
            assembly = assemble(
                plan=plan,
                entries=[self._entry(each) for each in likely],
                texts=texts,
                token_budget=token_budget,
                counter=counter,
                limit=limit,
            )
            alone = self.ends and told_alone(self.ends, {each.entry.key for each in assembly.told})
            if alone:
                ranked = [each for each in ranked if each.row.memory_id not in alone]
                likely = [each for each in likely if each.row.memory_id not in alone]
                continue
            is_full = limit is not None and assembly.optional >= limit
            if (
                is_full
                or len(likely) == len(ranked)
                or assembly.tokens_used + _A_LINE > token_budget
            ):
                return assembly
            likely = ranked

    def _entry(self, each: Ranked) -> Entry:
        key = each.row.memory_id
        # Most prompts contradict nothing, and an id takes a while to be looked up.
        opposites = self.opposites.get(key, ()) if self.opposites else ()
        return Entry(key, line_of(each.row, opposites), each.score)

    def quotes(self, *, section: str) -> list[Text]:
        """The messages as lines for that section of a plan, in the order they were said."""
        found = []
        for each in self.messages:
            text = excerpt(each.text, words=self.words)
            if text:
                said = SaidLine(text, each.speaker, each.said_at)
                written = Written(said.render(), SAID_HEADING, order=each.said_at.timestamp())
                found.append(Text(section, written, score=each.score, key=each.id, said=said))
        return found

    def quoted(self, tokens: Mapping[UUID, int]) -> list[ScoredMessage]:
        """The messages that a plan told, with the tokens of their lines."""
        return [
            replace(each, tokens=tokens[each.id]) for each in self.messages if each.id in tokens
        ]


def recall(
    *,
    viewer: Viewer,
    question: ReadQuestion,
    weights: Weights,
    token_budget: int,
    depth: Depth,
    tools: Tools,
    now: datetime,
    revision: Revision | None = None,
) -> Recalled:
    """The candidates for a prompt of that budget, best first; call it in the team's scope.

    `revision` is the team's in this transaction.
    """
    reached = descend(
        viewer=viewer,
        question=question,
        score=by_policy(weights),
        depth=depth,
        tools=tools,
        now=now,
        revision=revision,
    )
    ranked = that_could_fit(reached.memories, token_budget=int(SPARE * token_budget))
    messages = load_messages(
        viewer=viewer, question=question, ranked=reached.messages, most=MOST_QUOTED
    )
    rows = [each.row for each in ranked]
    clashes = clashes_within(viewer=viewer, rows=rows, tools=tools)
    if clashes and not flags_of_id(team_id=viewer.team_id).contradiction_detection:
        clashes = []
    opposites = opposites_among(viewer=viewer, rows=rows, clashes=clashes)
    words = tuple(term.word for term in question.asked.terms)
    return Recalled(ranked, opposites, clashes, messages, reached.searched, words, reached.ends)


def load_chosen(
    *,
    viewer: Viewer,
    ranked: Iterable[Ranked],
    tokens: Mapping[UUID, int] | None = None,
    revision: Revision | None = None,
) -> list[ScoredMemory]:
    """The memories of ranked candidates, in their order; with `tokens` only those it names.

    `revision` is the team's in this transaction.
    """
    wanted = [each for each in ranked if tokens is None or each.row.memory_id in tokens]
    rows = rows_by_id(
        viewer=viewer,
        ids=[each.row.memory_id for each in wanted],
        versions={each.row.memory_id: each.row.version for each in wanted},
        revision=revision,
    )
    return [
        ScoredMemory(
            rows[each.row.memory_id],
            each.score,
            each.signals,
            (tokens or {}).get(each.row.memory_id, 0),
        )
        for each in wanted
        if each.row.memory_id in rows
    ]


def contradictions_among(
    *, viewer: Viewer, recalled: Recalled, chosen: Sequence[ScoredMemory]
) -> list[Contradiction]:
    """The open contradictions of the chosen memories, recorded or seen only now."""
    shown = {each.id: each for each in chosen}
    disputed = any(
        each.row.status == Status.DISPUTED and each.row.memory_id in shown
        for each in recalled.ranked
    )
    recorded = open_contradictions_among(viewer=viewer, memory_ids=list(shown)) if disputed else []
    seen = [
        each.as_contradiction(
            earlier=shown[each.earlier.memory_id].memory, later=shown[each.later.memory_id].memory
        )
        for each in recalled.clashes
        if each.earlier.memory_id in shown and each.later.memory_id in shown
    ]
    return [*recorded, *seen]


def signals_hit(chosen: Sequence[ScoredMemory]) -> dict[str, int]:
    """How many of the chosen memories each signal speaks for."""
    names = ("semantic", "recency", "importance", "continuity", "relation")
    signals = [each.signals for each in chosen]
    return {name: sum([getattr(each, name) > 0.01 for each in signals]) for name in names}

"""Candidates of a question as the lines of a prompt, within a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from heapq import nlargest
from uuid import UUID

from memory.domain.levels import WHOLE_FROM, Level, Levels, is_long, levels_of
from memory.domain.plans.assembly import Assembly, assemble
from memory.domain.plans.plan import Entry, Plan, Text, Written
from memory.domain.rendering import (
    CHARACTERS_A_TOKEN,
    ESTIMATE,
    SAID_HEADING,
    Line,
    Opposite,
    Quote,
    SaidLine,
    TokenCounter,
)
from memory.domain.scoring import Weights
from memory.domain.talk import excerpt
from memory.domain.types import MemoryType, Scope
from memory.reading.conflicts import Clash
from memory.reading.messages import ScoredMessage
from memory.reading.ranking import Ranked
from memory.reading.search import told_alone
from memory.selectors.person_names import PersonNames
from memory.selectors.search.signal_rows import SignalRow
from memory.selectors.versions import stored_levels
from teams.tracing import step

# So many times the budget is handed to a plan, which leaves out what repeats and what is too long.
_SPARE = 1.5
# About so many characters of a line are not the memory's text.
_LABEL_CHARS = 20
# So many of the best candidates are told whole, whatever a consolidation shortened: a question
# about an old event gets the event.
TOLD_WHOLE = 5
# What has room of its own, as what is pinned has.
_ALWAYS = (MemoryType.IDENTITY.value, MemoryType.USER_PROFILE.value)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Candidates that rules chose, as they are to be told.

    `together` names for each that is told only with another one that other one, `clashes` are those
    that are still marked, and `sections` where in the plan each is told, if not as its line says.
    """

    ranked: Sequence[Ranked]
    together: Mapping[UUID, UUID] = field(default_factory=dict)
    clashes: Sequence[Clash] = ()
    sections: Mapping[UUID, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Packing:
    """How an answer becomes a prompt: whose weights rank it, and the plan that prints it.

    `texts` and `entries` stand in the prompt beside memories; messages are quoted in the section
    `quoted_in`, which may depend on the message.
    Where the summary of a conversation is among the texts, `summary_of` is that conversation: its
    summaries are not told as memories too. `choose` narrows the candidates and settles the clashes
    among them before they are packed, given their people; what `keeps` holds for is a candidate
    whatever it says.
    """

    plan: Plan
    weights: Weights
    token_budget: int
    counter: TokenCounter = ESTIMATE
    texts: tuple[Text, ...] = ()
    entries: tuple[Entry, ...] = ()
    quoted_in: str | Callable[[ScoredMessage], str] = "rest"
    summary_of: UUID | None = None
    choose: Callable[[Sequence[Ranked], Sequence[Clash], PersonNames], Chosen] | None = None
    keeps: Callable[[SignalRow], bool] | None = None


def likely_to_fit(ranked: Sequence[Ranked], *, token_budget: int) -> list[Ranked]:
    """What may reach the prompt: what has room of its own, and the best of the others.

    Team knowledge is counted apart, for plans give it room of its own.
    """
    room = _SPARE * token_budget * CHARACTERS_A_TOKEN
    used: dict[bool, int] = defaultdict(int)
    kept = []
    for each in ranked:
        row = each.row
        if row.is_pinned or row.memory_type in _ALWAYS:
            kept.append(each)
            continue
        is_shared = row.memory_type == MemoryType.SHARED
        if used[is_shared] < room:
            used[is_shared] += len(row.content) + _LABEL_CHARS
            kept.append(each)
    return kept


@step("retrieve.pack")
def pack_prompt(
    packing: Packing,
    *,
    ranked: Sequence[Ranked],
    messages: Sequence[ScoredMessage],
    opposites: Mapping[UUID, tuple[Opposite, ...]],
    ends: Mapping[UUID, UUID],
    names: PersonNames,
    zone: tzinfo,
    words: Sequence[str],
    limit: int | None,
    sections: Mapping[UUID, str],
    levels: Mapping[UUID, Levels],
) -> Assembly:
    """The plan's prompt of the candidates, best first; at most `limit` that are not mandatory.

    `opposites` are the texts that a candidate contradicts, as they are told, `words` those of the
    question, and `ends` name what superseded a past candidate: the past is not told without it.
    `names` are the people of the memories, `levels` shorter texts of some. Messages are of their
    days in `zone`.
    """
    entries = list(packing.entries)
    entries += [
        Entry(
            key,
            line_of(
                row,
                names.told(key, row.content),
                opposites.get(key, ()),
                quote=names.quotes.get(key),
            ),
            rank,
            sections.get(key, ""),
            _named(levels.get(key), key, names),
        )
        for row, key, rank in ((each.row, each.row.memory_id, each.rank) for each in ranked)
    ]
    said = _quotes(messages, words=words, section=packing.quoted_in, zone=zone)
    texts = [*packing.texts, *said]
    without: Collection[UUID] = ()
    while True:
        assembly = assemble(
            plan=packing.plan,
            entries=[each for each in entries if each.key not in without],
            texts=texts,
            token_budget=packing.token_budget,
            counter=packing.counter,
            limit=limit,
        )
        alone = told_alone(ends, {each.entry.key for each in assembly.told})
        if not alone:
            return assembly
        without = {*without, *alone}


def _named(levels: Levels | None, key: UUID, names: PersonNames) -> Levels | None:
    if levels is None:
        return None
    return replace(
        levels,
        summary=names.told(key, levels.summary),
        compressed=names.told(key, levels.compressed),
    )


def levels_among(
    packing: Packing,
    *,
    team_id: UUID,
    ranked: Sequence[Ranked],
    sections: Mapping[UUID, str],
) -> Mapping[UUID, Levels]:
    """Shorter texts of the candidates: of long ones, where not everything may fit.

    And of those that stand in one of `sections` that never tells the whole, or may stand there, and
    of those that a consolidation shortened. The best few, and what is important, are told whole all
    the same where there is room. Call it in the team's scope.
    """
    shortening = [each.room.name for each in packing.plan.sections if each.longest != Level.CONTENT]
    room = packing.token_budget * CHARACTERS_A_TOKEN
    fits = sum(len(each.row.content) + _LABEL_CHARS for each in ranked) <= room
    long = [each.row.memory_id for each in ranked if is_long(each.row.content)]
    if not shortening and fits:
        shortened = stored_levels(team_id=team_id, ids=long, is_shortened=True)
        return _whole_where_due(shortened, ranked)
    wanted = {
        row.memory_id: row.content
        for row in (each.row for each in ranked)
        if (shortening and sections.get(row.memory_id, shortening[0]) in shortening)
        or (not fits and is_long(row.content))
    }
    stored = stored_levels(team_id=team_id, ids=[key for key in long if key in wanted])
    found = {key: stored.get(key) or levels_of(content) for key, content in wanted.items()}
    return _whole_where_due(found, ranked)


def _whole_where_due(
    levels: Mapping[UUID, Levels], ranked: Sequence[Ranked]
) -> Mapping[UUID, Levels]:
    """The levels; the best candidates and important ones may be told whole."""
    whole = {each.row.memory_id for each in nlargest(TOLD_WHOLE, ranked, key=lambda one: one.score)}
    whole |= {
        each.row.memory_id
        for each in ranked
        if each.row.is_pinned or each.row.importance >= WHOLE_FROM
    }
    return {
        key: replace(each, told_at_most=Level.CONTENT) if key in whole else each
        for key, each in levels.items()
    }


def quoted(
    messages: Sequence[ScoredMessage], tokens: Mapping[UUID, int], *, words: Sequence[str]
) -> list[ScoredMessage]:
    """The messages that a prompt quotes, with what it quotes and the tokens of their lines."""
    return [
        replace(each, tokens=tokens[each.id], quote=excerpt(each.text, words=tuple(words)))
        for each in messages
        if each.id in tokens
    ]


def _quotes(
    messages: Sequence[ScoredMessage],
    *,
    words: Sequence[str],
    section: str | Callable[[ScoredMessage], str],
    zone: tzinfo,
) -> list[Text]:
    """The messages as lines for that section: the latest talk first, each in its own order."""
    found = []
    latest: dict[UUID, datetime] = {}
    for each in messages:
        known = latest.get(each.conversation_id, each.said_at)
        latest[each.conversation_id] = max(known, each.said_at)
    talk = sorted(messages, key=lambda each: each.said_at)
    talk.sort(key=lambda each: latest[each.conversation_id], reverse=True)
    for place, each in enumerate(talk):
        text = excerpt(each.text, words=tuple(words))
        if text:
            said = SaidLine(text, each.speaker, each.said_at.astimezone(zone), each.is_private)
            written = Written(said.render(), SAID_HEADING, order=place)
            where = section if isinstance(section, str) else section(each)
            found.append(Text(where, written, score=each.score, key=each.id, said=said))
    return found


def line_of(
    row: SignalRow,
    told: str,
    opposites: tuple[Opposite, ...] = (),
    *,
    quote: Quote | None = None,
) -> Line:
    """The line of a memory, whose text is `told` so, and which quotes somebody if `quote` says."""
    happened_at = None if row.held_from is None else datetime.fromtimestamp(row.held_from, UTC)
    if quote is not None and quote.valid_from is not None:
        happened_at = quote.valid_from
    return Line(
        content=told,
        memory_type=MemoryType(row.memory_type),
        importance=row.importance,
        confidence=row.confidence,
        at=happened_at or datetime.fromtimestamp(row.said, UTC),
        status=row.status,
        category=row.category,
        subject=row.subject,
        succeeded=row.succeeded,
        failed=row.failed,
        opposites=opposites,
        is_pinned=row.is_pinned,
        scope=Scope(row.scope),
        happened_at=happened_at,
        quote=quote,
        form=row.form,
    )

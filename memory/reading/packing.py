"""Candidates of a question as the lines of a prompt, within a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from datetime import time as clock_time
from heapq import nlargest
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.levels import WHOLE_FROM, Level, Levels, is_long, levels_of
from memory.domain.plans.assembly import Assembly, Told, assemble
from memory.domain.plans.plan import RETRIEVAL, Entry, Plan, Text, Written
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
from memory.domain.talk import SUMMARY_TAG, excerpt
from memory.domain.types import MemoryType, Scope, Status, in_zone
from memory.models import Contradiction
from memory.reading.answers import (
    Considered,
    Prompt,
    RetrievalStats,
    ScoredMemory,
    Stopwatch,
    loaded,
)
from memory.reading.conflicts import Clash, clashes_among, opposites_among
from memory.reading.messages import ScoredMessage, load_messages
from memory.reading.questions import Read, ReadQuestion
from memory.reading.ranking import Ranked, chosen
from memory.reading.search import told_alone
from memory.selectors.contradictions import open_contradictions_among
from memory.selectors.memories import stored_levels
from memory.selectors.names import PersonNames, person_names
from memory.selectors.search.signal_rows import SignalRow
from memory.selectors.ttl_cache import zone_of
from teams.services.team_settings import flags_of_id
from teams.tracing import step

# A prompt quotes at most so many messages; each takes up to some 120 tokens.
MOST_QUOTED = 20
# So many times the budget is handed to a plan, which leaves out what repeats and what is too long.
_SPARE = 1.5
# About so many characters of a line are not the memory's text.
_LABEL_CHARS = 20
# So many of the best candidates are told whole, whatever a consolidation shortened: a question
# about an old event gets the event.
TOLD_WHOLE = 5
# Types that have room of their own, as pinned memories have.
_ALWAYS = (MemoryType.IDENTITY.value, MemoryType.USER_PROFILE.value)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Candidates that rules chose.

    `together` names for each that is told only with another one that other one, `clashes` are those
    that are still marked, and `sections` the section of the plan for each that its line does not
    place.
    """

    ranked: Sequence[Ranked]
    together: Mapping[UUID, UUID] = field(default_factory=dict)
    clashes: Sequence[Clash] = ()
    sections: Mapping[UUID, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """Weights that rank an answer, and the plan that prints it as a prompt.

    `texts` and `entries` stand in the prompt beside memories; messages are quoted in the section
    `quoted_in`, which may depend on the message.
    Where the summary of a conversation is among the texts, `summary_of` is that conversation: its
    summaries are not told as memories too. `choose` narrows the candidates and settles the clashes
    among them before they are packed, given their people; rows for which `keeps` holds are
    candidates whatever they say.
    """

    weights: Weights
    token_budget: int
    plan: Plan = RETRIEVAL
    counter: TokenCounter = ESTIMATE
    texts: tuple[Text, ...] = ()
    entries: tuple[Entry, ...] = ()
    quoted_in: str | Callable[[ScoredMessage], str] = "rest"
    summary_of: UUID | None = None
    choose: Callable[[Sequence[Ranked], Sequence[Clash], PersonNames], Chosen] | None = None
    keeps: Callable[[SignalRow], bool] | None = None

    def always_tells(self, each: Ranked) -> bool:
        """Returns whether a candidate is told however little it says about the question."""
        row = each.row
        return not row.is_unconfirmed and (
            row.is_pinned
            or (self.keeps is not None and self.keeps(row))
            or row.memory_type == MemoryType.IDENTITY
            or row.memory_type in self.plan.always
        )


def packed_prompt(
    read: Read,
    question: ReadQuestion,
    packing: Packing,
    *,
    considered: Considered,
    is_loaded: bool,
    watch: Stopwatch,
) -> Prompt:
    """Packs the relevant candidates into a prompt; call it in the team's scope.

    Without `is_loaded` its memories are named and not loaded.
    """
    viewer, found, words = read.viewer, considered.relevant, question.sought.terms
    ranked = [
        each for each in found.memories if not is_told_as_summary(each, of=packing.summary_of)
    ]
    ranked = chosen(ranked, keep=lambda _: True)
    if packing.choose is None and not packing.plan.has_tiers:
        ranked = _likely_to_fit(ranked, token_budget=packing.token_budget)
    ranked.sort(key=lambda each: -each.score)
    messages = load_messages(read, ranked=found.messages, most=MOST_QUOTED)
    watch.lap("messages")
    clashes = clashes_among(viewer=viewer, ranked=ranked, tools=read.tools)
    if clashes and not flags_of_id(team_id=viewer.team_id).contradiction_detection:
        clashes = []
    names = person_names(
        team_id=viewer.team_id, texts=[(each.row.memory_id, each.row.content) for each in ranked]
    )
    named = {each.row.memory_id for each in ranked}
    choice = Chosen(ranked, found.ends, clashes)
    if packing.choose is not None:
        choice = packing.choose(ranked, clashes, names)
    opposed = opposites_among(viewer=viewer, ranked=choice.ranked, clashes=choice.clashes)
    further = [each for each in opposed.contents if each[0] not in named]
    if further:
        names = names.joined(person_names(team_id=viewer.team_id, texts=further))
    watch.lap("conflicts and names")
    zone = zone_of(team_id=viewer.team_id, now=read.now)
    assembly = _assembled(
        packing,
        choice,
        opposites=opposed.told(names),
        names=names,
        levels=_levels_among(packing, choice, team_id=viewer.team_id),
        quotes=_quotes(messages, words=words, section=packing.quoted_in, zone=zone),
        zone=zone,
        limit=read.limit,
    )
    watch.lap("pack")
    entries = {each.entry.key: each for each in assembly.told}
    told = [each for each in choice.ranked if each.row.memory_id in entries]
    memories = [
        _told_as(each, entries[each.id]) for each in (loaded(viewer, told) if is_loaded else ())
    ]
    contradictions = _contradictions(viewer, told, memories, choice.clashes)
    watch.lap("load")
    return Prompt(
        memories=memories,
        messages=[
            replace(
                each, tokens=assembly.quoted[each.id], quote=excerpt(each.text, words=tuple(words))
            )
            for each in messages
            if each.id in assembly.quoted
        ],
        contradictions=contradictions,
        told=told,
        considered=considered,
        words=words,
        assembly=assembly,
        has_heard_names=names.is_heard,
        stats=RetrievalStats(
            tokens_used=assembly.tokens_used,
            token_budget=packing.token_budget,
            token_counter=packing.counter.name,
            warnings=assembly.warnings,
            duplicates=len(assembly.duplicates),
        ),
    )


def is_told_as_summary(each: Ranked, *, of: UUID | None) -> bool:
    """Returns whether a candidate sums up the conversation whose summary the prompt holds."""
    row = each.row
    return (
        of is not None
        and row.conversation_id == of
        and not row.is_pinned
        and SUMMARY_TAG in (row.tags or ())
    )


def _likely_to_fit(ranked: Sequence[Ranked], *, token_budget: int) -> list[Ranked]:
    """Returns memories with room of their own and the best others; counts team knowledge apart."""
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
def _assembled(
    packing: Packing,
    choice: Chosen,
    *,
    opposites: Mapping[UUID, tuple[Opposite, ...]],
    names: PersonNames,
    levels: Mapping[UUID, Levels],
    quotes: Sequence[Text],
    zone: tzinfo,
    limit: int | None,
) -> Assembly:
    """The plan's prompt of the candidates, without past ones whose successors found no room."""
    entries = list(packing.entries)
    for each in choice.ranked:
        key, row = each.row.memory_id, each.row
        line = line_of(
            row,
            names.told(key, row.content),
            opposites.get(key, ()),
            zone=zone,
            quote=names.quotes.get(key),
        )
        shorter = _named(levels.get(key), key, names)
        entries.append(Entry(key, line, each.rank, choice.sections.get(key, ""), shorter))
    without: Collection[UUID] = ()
    while True:
        assembly = assemble(
            plan=packing.plan,
            entries=[each for each in entries if each.key not in without],
            texts=[*packing.texts, *quotes],
            token_budget=packing.token_budget,
            counter=packing.counter,
            limit=limit,
        )
        alone = told_alone(choice.together, {each.entry.key for each in assembly.told})
        if not alone:
            return assembly
        without = {*without, *alone}


def _told_as(found: ScoredMemory, told: Told) -> ScoredMemory:
    levels = told.entry.levels
    shorter = levels.at(told.level, "") if levels is not None else ""
    return replace(found, tokens=told.tokens, text_level=told.level, shorter=shorter)


def _contradictions(
    viewer: Viewer,
    told: Sequence[Ranked],
    memories: Sequence[ScoredMemory],
    clashes: Sequence[Clash],
) -> list[Contradiction]:
    """The open contradictions of the loaded memories, recorded or seen only now."""
    shown = {each.id: each.memory for each in memories}
    recorded: list[Contradiction] = []
    if shown and any(each.row.status == Status.DISPUTED for each in told):
        recorded = open_contradictions_among(viewer=viewer, memory_ids=list(shown))
    seen = [
        each.as_contradiction(
            earlier=shown[each.earlier.memory_id], later=shown[each.later.memory_id]
        )
        for each in clashes
        if each.earlier.memory_id in shown and each.later.memory_id in shown
    ]
    return [*recorded, *seen]


def _named(levels: Levels | None, key: UUID, names: PersonNames) -> Levels | None:
    if levels is None:
        return None
    return replace(
        levels,
        summary=names.told(key, levels.summary),
        compressed=names.told(key, levels.compressed),
    )


def _levels_among(packing: Packing, choice: Chosen, *, team_id: UUID) -> Mapping[UUID, Levels]:
    """Shorter texts of what a consolidation shortened and, unless all fits, of all that is long.

    The best few, and important ones, are told whole all the same if there is room.
    """
    ranked = choice.ranked
    room = packing.token_budget * CHARACTERS_A_TOKEN
    fits = sum(len(each.row.content) + _LABEL_CHARS for each in ranked) <= room
    long = {row.memory_id: row for row in (each.row for each in ranked) if is_long(row.content)}
    if fits:
        shortened = stored_levels(team_id=team_id, ids=list(long), is_shortened=True)
        return _whole_where_due(shortened, ranked)
    stored = stored_levels(team_id=team_id, ids=list(long))
    found = {
        key: stored.get(key) or levels_of(row.content, form=row.form) for key, row in long.items()
    }
    return _whole_where_due(found, ranked)


def _whole_where_due(
    levels: Mapping[UUID, Levels], ranked: Sequence[Ranked]
) -> Mapping[UUID, Levels]:
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
            said = SaidLine(text, each.speaker, in_zone(each.said_at, zone), each.is_private)
            written = Written(said.render(), SAID_HEADING, order=place)
            where = section if isinstance(section, str) else section(each)
            found.append(Text(where, written, score=each.score, key=each.id, said=said))
    return found


def line_of(
    row: SignalRow,
    told: str,
    opposites: tuple[Opposite, ...] = (),
    *,
    zone: tzinfo,
    quote: Quote | None = None,
) -> Line:
    """Returns the line of a memory that is rendered as `told`, a quote if there is one.

    The day of an event is that of `zone`.
    """
    happened_at = None if row.held_from is None else datetime.fromtimestamp(row.held_from, UTC)
    # A midnight is a day, the same everywhere, as it is in the ranking.
    if happened_at is not None and happened_at.timetz() != clock_time(tzinfo=UTC):
        happened_at = in_zone(happened_at, zone)
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
        source=row.source,
    )

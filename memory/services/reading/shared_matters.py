"""What others share beside what an agent or a person has for itself, where both cannot hold.

When another agent shares something, it is not compared with what this one keeps to itself, so
that nothing of that can be told from what becomes of the shared memory; nor is what is about
nobody with what is about one person, for which the writes of all would have to wait for each
other. Who reads both is told.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from uuid import UUID

from memory.clients.tools import Tools
from memory.domain.audience import OF_AN_AGENT, TEAM_WIDE
from memory.domain.judging.hearing import hearing_on
from memory.domain.judging.paths import is_specific
from memory.domain.judging.reading.sentence import STOPWORDS
from memory.domain.text import normalise_text
from memory.domain.types import Judgement, Strategy, Verdict
from memory.domain.viewer import Viewer
from memory.selectors.meeting.comparing import Meaning, meanings_of
from memory.selectors.searching.signal_rows import SignalRow
from memory.services.compacting.summaries import SUMMARY_TAG
from memory.services.writing.matters import as_statements, bar_of, strategy_of

# Of the candidates that come first, so many pairs are looked at, those with most words in common,
# of which there must be two. Measured where a third of the answer is shared, with the machine busy:
# 2.7 ms of processor time when the pairs are new, 0.8 ms afterwards, nothing where none is shared.
MOST_SHARED = 20
MOST_OWN = 60
MOST_PAIRS = 6
_LEAST_WORDS = 2
_WORD = re.compile(r"\w{3,}")
# What was found of a pair stays true: the texts never change.
_MOST_KNOWN = 20_000
# How unlike two are, minus 1 to 0; what is shared, and the reader's own.
_Likely = tuple[float, SignalRow, SignalRow]
_Key = tuple[str, str, UUID, UUID, str, str]
_known: dict[_Key, Judgement | None] = {}


class _Unknown:
    """What stands for a pair that nobody has looked at."""


_UNKNOWN = _Unknown()


@dataclass(frozen=True, slots=True)
class Opposed:
    """Two candidates that a judge finds in conflict, in the order in which they were said."""

    earlier: SignalRow
    later: SignalRow
    judgement: Judgement
    strategy: Strategy


def shared_against_own(*, viewer: Viewer, rows: Sequence[SignalRow], tools: Tools) -> list[Opposed]:
    """The pairs of something shared and something of fewer that are in conflict.

    Shared is, beside the reading agent's own, what every agent sees; beside what it keeps to
    itself, whatever it does not; beside what is about a user, what is about nobody; and beside a
    project's, what is of none. `rows` are best first, and those that come first are looked at.
    Those of one specific subject are left to who compares by subject. Call it in the team's scope.
    """
    rows = [row for row in rows if row.is_live and SUMMARY_TAG not in (row.tags or ())]
    likely: list[_Likely] = []
    if viewer.agent_id is not None:
        shared = [row for row in rows if row.memory_type in TEAM_WIDE]
        own = [row for row in rows if row.memory_type not in TEAM_WIDE]
        likely += _alike(shared=shared, own=own, may=_of_one)
        shared = [row for row in own if row.memory_type not in OF_AN_AGENT]
        kept = [row for row in own if row.memory_type in OF_AN_AGENT]
        likely += _alike(shared=shared, own=kept, may=_of_one_or_none)
    shared = [row for row in rows if row.end_user_id is None]
    own = [row for row in rows if row.end_user_id is not None]
    likely += _alike(shared=shared, own=own, may=_of_team_and_user)
    shared = [row for row in rows if row.project_id is None]
    own = [row for row in rows if row.project_id is not None]
    likely += _alike(shared=shared, own=own, may=_of_team_and_project)
    pairs = [
        (one, other) if one.said <= other.said else (other, one)
        for _, one, other in sorted(likely, key=lambda each: each[0])[:MOST_PAIRS]
    ]
    judged = _judged(viewer, pairs, tools)
    return [
        Opposed(
            earlier,
            later,
            judgement,
            strategy_of(same_subject=False, verdict=judgement.verdict),
        )
        for (earlier, later), judgement in zip(pairs, judged, strict=True)
        if judgement is not None
    ]


def name_each_other(one: SignalRow, other: SignalRow) -> bool:
    """Whether one of two candidates is marked as disputed by the other."""
    return other.memory_id in (one.contradicts or ()) or one.memory_id in (other.contradicts or ())


def _alike(
    *,
    shared: Sequence[SignalRow],
    own: Sequence[SignalRow],
    may: Callable[[SignalRow, SignalRow], bool],
) -> list[_Likely]:
    """The pairs with most words in common, the likest first, by how unlike they are."""
    shared, own = shared[:MOST_SHARED], own[:MOST_OWN]
    if not shared or not own:
        return []
    holding: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(shared):
        for word in _words(row.content):
            holding[word].append(number)
    found: list[tuple[float, int, int]] = []
    sizes = [len(_words(row.content)) for row in shared]
    for place, row in enumerate(own):
        words = _words(row.content)
        common: dict[int, int] = {}
        for word in words:
            for number in holding.get(word, ()):
                common[number] = common.get(number, 0) + 1
        found += [
            (-count / (len(words) + sizes[number] - count), place, number)
            for number, count in common.items()
            if count >= _LEAST_WORDS
        ]
    pairs = ((unlike, shared[number], own[place]) for unlike, place, number in sorted(found))
    return list(
        islice(
            (each for each in pairs if may(*each[1:]) and _is_unjudged(*each[1:])),
            MOST_PAIRS,
        )
    )


def _of_one(one: SignalRow, other: SignalRow) -> bool:
    """Whether the two are about the same person and project."""
    return (one.end_user_id, one.project_id) == (other.end_user_id, other.project_id)


def _of_one_or_none(one: SignalRow, other: SignalRow) -> bool:
    """Whether the two are about the same person, and the first of no other project."""
    return one.end_user_id == other.end_user_id and one.project_id in (None, other.project_id)


def _of_team_and_user(one: SignalRow, other: SignalRow) -> bool:
    """Whether one is about nobody and the other about a person, of one project if of any."""
    of_one_project = one.project_id == other.project_id or None in (
        one.project_id,
        other.project_id,
    )
    return of_one_project and one.end_user_id != other.end_user_id


def _of_team_and_project(one: SignalRow, other: SignalRow) -> bool:
    """Whether the team's came after a project's, about the same person.

    The other way round the two were compared when the project's was stored.
    """
    return (
        one.end_user_id == other.end_user_id
        and one.said >= other.said
        and (one.memory_type in OF_AN_AGENT) == (other.memory_type in OF_AN_AGENT)
    )


def _is_unjudged(one: SignalRow, other: SignalRow) -> bool:
    """Whether nobody has compared the two, and they are not one text."""
    return (
        not (is_specific(one.subject) and one.subject == other.subject)
        and not name_each_other(one, other)
        # A copy of what is shared says nothing against it, and would take another pair's place.
        and normalise_text(one.content) != normalise_text(other.content)
    )


@lru_cache(maxsize=8_192)
def _words(content: str) -> frozenset[str]:
    return frozenset(
        word
        for word in _WORD.findall(content.casefold())
        if word not in STOPWORDS and not word.isdigit()
    )


def _judged(
    viewer: Viewer, pairs: Sequence[tuple[SignalRow, SignalRow]], tools: Tools
) -> list[Judgement | None]:
    """Of each pair, the earlier first, the conflict that the judge finds, or None."""
    keys = [_key(earlier, later, tools) for earlier, later in pairs]
    # Each is asked for once: another thread may answer in between.
    asked = [_known.get(key, _UNKNOWN) for key in keys]
    judged = [None if isinstance(each, _Unknown) else each for each in asked]
    unknown = [number for number, each in enumerate(asked) if isinstance(each, _Unknown)]
    if unknown:
        ids = {row.memory_id for number in unknown for row in pairs[number]}
        meanings = meanings_of(team_id=viewer.team_id, ids=ids, embedding_model=tools.embedder.name)
        if len(_known) + len(unknown) > _MOST_KNOWN:
            _known.clear()
        for number in unknown:
            earlier, later = pairs[number]
            judged[number] = _conflict(earlier, later, meanings, tools)
            if earlier.memory_id in meanings and later.memory_id in meanings:
                _known[keys[number]] = judged[number]
    return judged


def _key(earlier: SignalRow, later: SignalRow, tools: Tools) -> _Key:
    names = (tools.judge.name, tools.embedder.name)
    return (*names, earlier.memory_id, later.memory_id, earlier.subject, later.subject)


def _conflict(
    earlier: SignalRow, later: SignalRow, meanings: dict[UUID, Meaning], tools: Tools
) -> Judgement | None:
    first, second = meanings.get(earlier.memory_id), meanings.get(later.memory_id)
    if first is None or second is None:
        return None
    own = second if earlier.memory_type in TEAM_WIDE else first
    is_of_one = (earlier.end_user_id, earlier.project_id) == (later.end_user_id, later.project_id)
    is_kept = (earlier.memory_type in OF_AN_AGENT) != (later.memory_type in OF_AN_AGENT)
    if is_of_one and not is_kept and own.agent_id is None:
        return None  # what belongs to no agent was compared when it was stored
    existing, new = as_statements(earlier=earlier, later=later)
    hearing = hearing_on(
        existing=existing,
        new=new,
        similarity=float(first.vector @ second.vector),
        anchor=tools.embedder.opposition_similarity,
        bar=bar_of(second.extraction_pass),
    )
    if hearing is None or hearing.contradiction is None:
        return None
    judgement = tools.judge.judge(existing=existing, new=new)
    if judgement.verdict not in (Verdict.SUPERSEDE, Verdict.DISPUTE):
        return None
    return judgement if hearing.admits(judgement) else None

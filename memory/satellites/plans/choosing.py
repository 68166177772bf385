"""Chooses the facts for a request: by kind, category, confidence, conflicts, scope (seed 001)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import combinations
from uuid import UUID

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory.domain.audience import OF_AN_AGENT, Viewer
from memory.domain.clashes import (
    CONSTRAINTS,
    EVERY_CATEGORY,
    PREFERENCES,
    Cause,
    Conflict,
    Fact,
    Kept,
    LeftOut,
    Pairs,
    Resolved,
    Rules,
    best_first,
    category_of,
    is_relevant,
    resolve_conflicts,
)
from memory.domain.differences import saying
from memory.domain.judgements import same_numbers, shared_words
from memory.domain.types import MemoryType, Scope, Statement, Status, Verdict
from memory.reading.conflicts import Clash
from memory.reading.packing import Chosen, line_of
from memory.reading.ranking import Ranked
from memory.selectors.names import PersonNames
from memory.selectors.search.signal_rows import SignalRow
from memory.selectors.ttl_cache import zone_of
from memory.understanding.embedders import built_in_embedder
from memory.understanding.judging import small_judge
from routing.domain.complexity import measure

# Chosen by ten-fold cross-validation on the examples.
_RIDGE = 0.3
# A request that is less like every type is general.
_LEAST = -0.4
# Score that a feature of a query, as the complexity scorer measures it, adds to a type.
_FEATURES = {"code": ("coding", 0.3), "failure": ("troubleshooting", 0.3)}
_HEAD_CHARS = 2_000
# Labels of the examples of personal requests that ask for all that is known, of general ones that
# ask nothing of memory, and of questions that have no type and show what is not unrelated.
_OVERVIEW, _UNRELATED, _ABOUT = "overview", "unrelated", "about"
# A request that is less like the unrelated ones asks something of memory.
_LEAST_UNRELATED = -0.3
# Similarity from which a preference of another type than the request is about the same matter.
_NEAR = 0.35
# The same in a personal request: of 31 pairs it keeps 13 of 15 that fit and 4 of 16 others.
_NEAR_PERSONAL = 0.15
# The judge compares so many pairs of the best facts, those with most words in common.
_MOST_COMPARED = 30
_MOST_JUDGED = 12
_LEAST_SHARED = 0.4
# Confidence of the judge in both orders; of labelled pairs 33 of 37 that reach it are repetitions.
_SURE_OF_WORDING = 0.8


class RequestType(StrEnum):
    """The subject of a request; the fields of `teams.domain.team_settings.RequestCategories`."""

    CODING = "coding"
    OUTPUT_FORMAT = "output_format"
    GENERAL = "general"
    PLANNING = "planning"
    PERSONAL = "personal"
    TROUBLESHOOTING = "troubleshooting"


def kind_of_request(text: str) -> RequestType:
    """Returns the type of help that the text asks for, by labelled examples of each type.

    Kernel ridge regression on the vectors of the built-in embedder; no language model is asked.
    A request that resembles no type is general, for which only what is certain is told.
    """
    label, _ = _label(text)
    return RequestType.PERSONAL if label == _OVERVIEW else RequestType(label)


def asks_for_all(text: str) -> bool:
    """Returns whether a request asks for all that is known of who asks."""
    return _label(text)[0] == _OVERVIEW


def asks_nothing(text: str) -> bool:
    """Returns whether a request asks nothing of memory, as "What is the capital of France?"."""
    return _label(text)[1]


@lru_cache(maxsize=1024)
def _label(text: str) -> tuple[str, bool]:
    """Returns the type of a request, or overview, and whether it asks nothing of memory."""
    features = measure(query=text, history_turns=0).features
    names, examples, weights = _trained()
    (scores,) = _kernel(built_in_embedder().embed([text[:_HEAD_CHARS]]), examples) @ weights
    *scores, unrelated = scores.tolist()
    for feature, (name, weight) in _FEATURES.items():
        scores[names.index(name)] += weight * min(features.get(feature, 0.0), 1.0)
    best = max(scores)
    label = names[scores.index(best)] if best >= _LEAST else RequestType.GENERAL.value
    return label, label == RequestType.GENERAL and unrelated >= _LEAST_UNRELATED


@cache
def _trained() -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Returns the types and overview, the vectors of the examples, and their weights for each.

    A last column of weights is for what is unrelated; those labelled `about` count for it alone.
    """
    text = files(__package__).joinpath("request_types.txt").read_text(encoding="utf-8")
    rows = [line.split(": ", 1) for line in text.splitlines() if not line.startswith("#")]
    rows.sort(key=lambda row: row[0] == _ABOUT)
    typed = sum(name != _ABOUT for name, _ in rows)
    names = [*(each.value for each in RequestType), _OVERVIEW]
    examples = built_in_embedder().embed([request for _, request in rows]).astype(np.float64)
    types = [RequestType.GENERAL.value if name == _UNRELATED else name for name, _ in rows[:typed]]
    weights = np.zeros((len(rows), len(names) + 1))
    weights[:typed, :-1] = _fitted(
        examples[:typed], [[each == name for each in names] for name in types]
    )
    weights[:, -1] = _fitted(examples, [name == _UNRELATED for name, _ in rows])
    return names, examples, weights


def _fitted(examples: NDArray[np.float64], labels: ArrayLike) -> NDArray[np.float64]:
    """Returns the weights of the examples that fit the labels, true or false, by a ridge."""
    ridge = _RIDGE * np.eye(len(examples))
    signs = np.where(labels, 1.0, -1.0)
    return np.linalg.solve(_kernel(examples, examples) + ridge, signs).astype(np.float64)


def _kernel(some: NDArray[np.floating], others: NDArray[np.floating]) -> NDArray[np.float64]:
    """Returns the Gaussian kernel of unit vectors, 1 for equal ones."""
    return np.exp(2.0 * (some @ others.T) - 2.0).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Selection:
    """The included facts, by scope and best first in each, and the facts left out.

    Every fact is in one of the two. `asked` are the scopes that were asked, and `enough` says why
    no further one was, "" where all were.
    """

    kept: tuple[Kept, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    asked: tuple[Scope, ...] = ()
    enough: str = ""


def select_facts(
    facts: Sequence[Fact], *, rules: Rules, conflicting: Pairs = (), disputed: Pairs = ()
) -> Selection:
    """Chooses the facts to include; `conflicting` are the pairs that contradict each other.

    `disputed` are those of the pairs that people have yet to settle: both sides are told, flagged.

    Never told is what is not relevant, below the threshold, stale, a repetition of something more
    certain, or of another session, project or person; nor what lost a conflict. Facts of which
    nothing says which holds are told together, each with its rivals.
    """
    left: list[LeftOut] = []
    able: list[Fact] = []
    for fact in facts:
        if (refused := _refusal(fact, rules)) is None:
            able.append(fact)
        else:
            left.append(LeftOut(fact.key, *refused))
    able, stands_for = _once(able, left)
    pairs, open_ones = (
        {frozenset(stands_for.get(key, key) for key in pair) for pair in each}
        for each in ((*conflicting, *disputed), disputed)
    )
    resolved = resolve_conflicts(
        able, pairs if rules.resolves_conflicts else (), disputed=open_ones
    )
    left += [
        LeftOut(key, Cause.CONFLICT, f"contradicts {other}: its {why}")
        for key, (other, why) in resolved.losers.items()
    ]
    told, asked, enough = _by_scope(resolved, rules)
    left += [
        LeftOut(fact.key, Cause.ENOUGH, f"scope {fact.scope} was not asked: {enough}")
        for fact in resolved.standing
        if fact.key not in told
    ]
    places = {scope: place for place, scope in enumerate(rules.scopes)}
    kept = [
        Kept(fact, _reason(fact, rules), resolved.rivals.get(fact.key, ()))
        for fact in sorted(
            (fact for fact in resolved.standing if fact.key in told),
            key=lambda fact: (places[fact.scope] if fact.scope else 0, -fact.score),
        )
    ]
    return Selection(tuple(kept), tuple(left), resolved.conflicts, asked, enough)


def _refusal(fact: Fact, rules: Rules) -> tuple[Cause, str] | None:
    """Returns the reason for never including the fact."""
    if fact.scope is None:
        return Cause.OTHER_SCOPE, "it is of another session, project or person than the request"
    if fact.scope not in rules.scopes:
        return Cause.OTHER_SCOPE, f"scope {fact.scope} is not asked for"
    if fact.is_stale:
        return Cause.STALE, "it does not hold any more"
    if fact.is_unconfirmed:
        return Cause.UNCONFIRMED, "a tool or a web page alone says it"
    is_of_person = fact.is_of_person and is_relevant("profile", among=rules.categories)
    if not is_of_person and not is_relevant(
        fact.category, among=rules.categories, needs_naming=fact.needs_naming
    ):
        return Cause.CATEGORY, f"category {fact.category} is not relevant to the request"
    if not fact.is_fitting:
        return Cause.CATEGORY, "the preference is about something else than the request"
    if fact.confidence < rules.threshold:
        return Cause.CONFIDENCE, f"confidence {fact.confidence:.2g} is below {rules.threshold:.2g}"
    return None


def _once(facts: Sequence[Fact], left: list[LeftOut]) -> tuple[list[Fact], dict[UUID, UUID]]:
    """Each statement once, where it is most certain, and what stands for each of the others."""
    first: dict[Hashable, Fact] = {}
    stands_for: dict[UUID, UUID] = {}
    for fact in best_first(facts):
        if fact.says is None:
            continue
        other = first.setdefault(fact.says, fact)
        if other is not fact:
            stands_for[fact.key] = other.key
            left.append(LeftOut(fact.key, Cause.DUPLICATE, f"{other.key} says the same"))
    return [fact for fact in facts if fact.key not in stands_for], stands_for


def _by_scope(resolved: Resolved, rules: Rules) -> tuple[set[UUID], tuple[Scope, ...], str]:
    """Asks the scopes in turn; returns their facts, the scopes asked, and why the rest were not."""
    told: set[UUID] = set()
    for place, scope in enumerate(rules.scopes, 1):
        for fact in resolved.standing:
            if fact.scope is scope or fact.key in told:
                told.update(_with_rivals(fact.key, resolved.rivals))
        chars = sum(fact.chars for fact in resolved.standing if fact.key in told)
        asked = rules.scopes[:place]
        if asked == rules.scopes:
            break
        given = ""
        if len(told) >= rules.enough_facts:
            given = f"{len(told)} facts, and {rules.enough_facts}"
        elif chars >= rules.enough_chars:
            given = f"{chars} characters, and {rules.enough_chars}"
        if given:
            return told, asked, f"{' and '.join(asked)} gave {given} are enough"
    return told, rules.scopes, ""


def _with_rivals(key: UUID, rivals: Mapping[UUID, Sequence[UUID]]) -> list[UUID]:
    """The fact with all that are told only together with it."""
    found: dict[UUID, None] = {}
    reached = [key]
    while reached:
        each = reached.pop()
        if each not in found:
            found[each] = None
            reached += rivals.get(each, ())
    return list(found)


def _reason(fact: Fact, rules: Rules) -> str:
    return (
        f"scope {fact.scope}; category {fact.category} is relevant to the request;"
        f" confidence {fact.confidence:.2g} is at least {rules.threshold:.2g}"
    )


@dataclass(slots=True)
class FactChooser:
    """Chooses among the candidates of a request for `viewer`, in that conversation, by `rules`."""

    viewer: Viewer
    conversation_id: UUID | None
    rules: Rules
    now: datetime
    request: str = ""
    kind: RequestType | None = None
    selection: Selection = field(default_factory=Selection)

    def keeps(self, row: SignalRow) -> bool:
        """Returns whether it is told whatever words the request has.

        So are constraints and fitting preferences where the type of the request names them, and
        all that is the person's where all that is known is asked.
        """
        if self.asks_for_all and row.end_user_id == self.viewer.end_user_id is not None:
            return True
        category = _category(row)
        named = [each for each in self.rules.categories if each != EVERY_CATEGORY]
        if not is_relevant(category, among=named):
            return False
        if is_relevant(category, among=[PREFERENCES]):
            return self._fits(row)
        return is_relevant(category, among=[CONSTRAINTS])

    @property
    def asks_for_all(self) -> bool:
        """Returns whether the request asks for everything known of the person."""
        return self.kind is RequestType.PERSONAL and asks_for_all(self.request)

    def _fits(self, row: SignalRow) -> bool:
        """Returns whether a preference fits: it is of the request's type, or near to its words.

        In a personal request only the words count. All fit where the categories were named.
        """
        is_personal = self.kind is RequestType.PERSONAL
        if self.kind is None or self.asks_for_all:
            return True
        if not is_personal and kind_of_request(row.content) is self.kind:
            return True
        one, other = built_in_embedder().embed([self.request[:_HEAD_CHARS], row.content])
        return float(one @ other) >= (_NEAR_PERSONAL if is_personal else _NEAR)

    def choose(
        self, ranked: Sequence[Ranked], clashes: Sequence[Clash], names: PersonNames
    ) -> Chosen:
        """Returns the chosen items, with what of the rest was left out and why."""
        rows = {each.row.memory_id: each.row for each in ranked}
        facts = [self._fact(each, names) for each in ranked]
        recorded = [
            (row, rows[other])
            for row in rows.values()
            for other in row.contradicts or ()
            if other in rows
        ]
        disputed = {
            frozenset((one.memory_id, other.memory_id))
            for one, other in recorded
            if one.status == other.status == Status.DISPUTED
        }
        pairs = {frozenset((one.memory_id, other.memory_id)) for one, other in recorded}
        pairs |= {frozenset((each.earlier.memory_id, each.later.memory_id)) for each in clashes}
        facts = self._reworded(facts, rows, pairs)
        selection = select_facts(facts, rules=self.rules, conflicting=pairs, disputed=disputed)
        told = {each.fact.key: each for each in selection.kept}
        kept = [
            each._replace(row=self._as_told(each.row, told[each.row.memory_id].rivals))
            for each in ranked
            if each.row.memory_id in told
        ]
        self.selection = selection
        return Chosen(kept, _rings(selection))

    def _reworded(
        self, facts: Sequence[Fact], rows: Mapping[UUID, SignalRow], conflicting: Pairs
    ) -> list[Fact]:
        """Returns the facts, those that say the same in other words with one `says`."""
        able = [
            fact
            for fact in facts
            if _refusal(fact, self.rules) is None
            and rows[fact.key].memory_type not in (MemoryType.EPISODIC, MemoryType.PROCEDURAL)
        ]
        able = sorted(able, key=lambda fact: -fact.score)[:_MOST_COMPARED]
        likely = []
        for one, other in combinations(able, 2):
            texts = (rows[one.key].content, rows[other.key].content)
            shared = shared_words(*texts)
            if (
                shared >= _LEAST_SHARED
                and same_numbers(*texts)
                and frozenset((one.key, other.key)) not in conflicting
            ):
                likely.append((shared, one, other))
        likely.sort(key=lambda each: -each[0])
        says = {fact.key: fact.says for fact in facts}
        for _, one, other in likely[:_MOST_JUDGED]:
            if _is_reworded(rows[one.key], rows[other.key]):
                kept, gone = says[one.key], says[other.key]
                says = {key: kept if each == gone else each for key, each in says.items()}
        return [replace(fact, says=says[fact.key]) for fact in facts]

    def _fact(self, each: Ranked, names: PersonNames) -> Fact:
        row = each.row
        quote = names.quotes.get(row.memory_id)
        zone = zone_of(team_id=self.viewer.team_id, now=self.now)
        line = line_of(row, names.told(row.memory_id, row.content), zone=zone, quote=quote)
        return Fact(
            key=row.memory_id,
            scope=scope_of(row, viewer=self.viewer, conversation_id=self.conversation_id),
            category=_category(row),
            confidence=row.confidence,
            at=row.created_at,
            score=each.rank,
            is_stale=not row.is_live
            or (row.held_until is not None and row.held_until < self.now.timestamp()),
            is_unconfirmed=row.is_unconfirmed,
            needs_naming=row.memory_type == MemoryType.PROCEDURAL and not row.is_pinned,
            is_fitting=not is_relevant(_category(row), among=[PREFERENCES]) or self._fits(row),
            is_of_person=self.kind is not None
            and row.end_user_id is not None
            and row.memory_type != MemoryType.PROCEDURAL
            and not is_relevant(_category(row), among=[PREFERENCES]),
            # Whether somebody disputes it makes no other statement of it.
            says=saying(replace(line, status=Status.ACTIVE.value)),
            chars=len(line.render()) + 1,
        )

    def _as_told(self, row: SignalRow, rivals: Sequence[UUID]) -> SignalRow:
        """The row in its scope; only what the rules could not settle stands there as disputed."""
        scope = scope_of(row, viewer=self.viewer, conversation_id=self.conversation_id)
        row = row._replace(scope=str(scope))
        if not self.rules.resolves_conflicts:
            return row
        status = Status.DISPUTED if rivals else Status.ACTIVE
        return row._replace(status=status.value, contradicts=list(rivals))


def _is_reworded(one: SignalRow, other: SignalRow) -> bool:
    """Returns whether the small judge is sure, in both orders, that both say the same."""
    first, second = (Statement(row.content, row.created_at, row.subject) for row in (one, other))
    return all(
        each.verdict is Verdict.DUPLICATE and each.confidence >= _SURE_OF_WORDING
        for each in small_judge().judge_all([(first, second), (second, first)])
    )


def scope_of(row: SignalRow, *, viewer: Viewer, conversation_id: UUID | None) -> Scope | None:
    """Returns where a memory counts for the request; None where it is of somebody else."""
    if row.end_user_id not in (None, viewer.end_user_id):
        return None
    if row.project_id not in (None, viewer.project_id):
        return None
    if row.memory_type in OF_AN_AGENT and row.agent_id != viewer.agent_id:
        return None
    if conversation_id is not None and row.conversation_id == conversation_id:
        return Scope.SESSION
    scope = Scope(row.scope)
    has_owner = {
        Scope.TEAM: True,
        Scope.PROJECT: row.project_id is not None,
        Scope.USER: row.end_user_id is not None,
    }
    return scope if has_owner.get(scope) else None


def _category(row: SignalRow) -> str:
    return category_of(
        category=row.category, memory_type=MemoryType(row.memory_type), subject=row.subject
    )


def _rings(selection: Selection) -> Mapping[UUID, UUID]:
    """Of each flagged fact another one of its conflict, in circles: all are told, or none."""
    rivals = {each.fact.key: each.rivals for each in selection.kept if each.rivals}
    rings: dict[UUID, UUID] = {}
    for key in rivals:
        if key not in rings:
            circle = _with_rivals(key, rivals)
            rings |= dict(zip(circle, [*circle[1:], circle[0]], strict=True))
    return rings

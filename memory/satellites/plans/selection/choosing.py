"""Choosing what a request is told: category, confidence, conflicts, scopes (seed 001)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.domain.clashes import (
    Cause,
    Conflict,
    Fact,
    Kept,
    LeftOut,
    Pairs,
    Resolved,
    Rules,
    best_first,
    is_relevant,
    resolve_conflicts,
)
from memory.domain.types import Scope


@dataclass(frozen=True, slots=True)
class Selection:
    """What is told, in the order of the scopes and best first in each, and what is not.

    Every fact is in one of the two. `asked` are the scopes that were asked, and `enough` says why
    no further one was, "" where all were.
    """

    kept: tuple[Kept, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    asked: tuple[Scope, ...] = ()
    enough: str = ""


def select_facts(facts: Sequence[Fact], *, rules: Rules, conflicting: Pairs = ()) -> Selection:
    """What of the facts is told; `conflicting` are the pairs that contradict each other.

    Never told is what is not relevant, below the threshold, stale, a repetition of something more
    certain, or of another session, project or person; nor what lost a conflict. Facts of which
    nothing says which holds are told together, each with its rivals.
    """
    left: list[LeftOut] = []
    able: list[Fact] = []
    for fact in facts:
        refused = _refusal(fact, rules)
        if refused is None:
            able.append(fact)
        else:
            left.append(refused)
    able, stands_for = _once(able, left)
    pairs = {frozenset(stands_for.get(key, key) for key in pair) for pair in conflicting}
    resolved = resolve_conflicts(able, pairs if rules.resolves_conflicts else ())
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


def _refusal(fact: Fact, rules: Rules) -> LeftOut | None:
    """Why the fact is not told whatever else there is."""
    if fact.scope is None:
        why = "it is of another session, project or person than the request"
        return LeftOut(fact.key, Cause.OTHER_SCOPE, why)
    if fact.scope not in rules.scopes:
        return LeftOut(fact.key, Cause.OTHER_SCOPE, f"scope {fact.scope} is not asked for")
    if fact.is_stale:
        return LeftOut(fact.key, Cause.STALE, "it does not hold any more")
    if not is_relevant(fact.category, among=rules.categories, needs_naming=fact.needs_naming):
        why = f"category {fact.category} is not relevant to the request"
        return LeftOut(fact.key, Cause.CATEGORY, why)
    if fact.confidence < rules.threshold:
        why = f"confidence {fact.confidence:.2g} is below {rules.threshold:.2g}"
        return LeftOut(fact.key, Cause.CONFIDENCE, why)
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
    """What the scopes give that are asked in turn, which those are, and why not the others."""
    told: set[UUID] = set()
    chars = 0
    for place, scope in enumerate(rules.scopes):
        for fact in resolved.standing:
            if fact.scope is scope or fact.key in told:
                told |= _with_rivals(fact.key, resolved)
        chars = sum(fact.chars for fact in resolved.standing if fact.key in told)
        asked = rules.scopes[: place + 1]
        if asked == rules.scopes:
            break
        names = " and ".join(asked)
        if len(told) >= rules.enough_facts:
            return (
                told,
                asked,
                f"{names} gave {len(told)} facts, and {rules.enough_facts} are enough",
            )
        if chars >= rules.enough_chars:
            enough = f"{names} gave {chars} characters, and {rules.enough_chars} are enough"
            return told, asked, enough
    return told, rules.scopes, ""


def _with_rivals(key: UUID, resolved: Resolved) -> set[UUID]:
    """The fact with all that are told only together with it."""
    found: set[UUID] = set()
    reached = [key]
    while reached:
        each = reached.pop()
        if each not in found:
            found.add(each)
            reached += resolved.rivals.get(each, ())
    return found


def _reason(fact: Fact, rules: Rules) -> str:
    return (
        f"scope {fact.scope}; category {fact.category} is relevant to the request;"
        f" confidence {fact.confidence:.2g} is at least {rules.threshold:.2g}"
    )

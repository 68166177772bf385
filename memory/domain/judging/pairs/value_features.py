"""The findings on values and on the words left over, as numbers for the weights."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.tables import words
from .change import is_past_event
from .evidence import Evidence
from .patterns import opposed_verbs
from .structure import is_scoped
from .tellings import is_attitude, verbs_of
from .values import is_many_valued, is_partial, other_object

_NORMS = words("must should shall may can required allowed supposed limit target")
_SOLE = words("only sole single")

Findings = dict[str, object]


def values_of(ev: Evidence) -> Findings:
    """Where the two give values, deny one another, or part in one only."""
    c = ev.comparison
    opposition, polarity = bool(c.oppositions), bool(c.polarity)
    value, both = bool(c.other_values), both_left(ev)
    here = not ev.elsewhere and not ev.changed
    norms = has(ev.existing, _NORMS) != has(ev.new, _NORMS)
    many = is_many_valued(ev.existing) and is_many_valued(ev.new)
    return {
        "opposition": opposition,
        "polarity": polarity,
        "other value": value,
        "equal value": c.equal_values,
        "agreement": c.agreements,
        "opposition, same subject": opposition and here,
        "polarity, same subject": polarity and here,
        "other value, same subject": value and here,
        "opposition and left-overs": opposition and both,
        "other value and left-overs": value and both,
        "polarity and left-overs": polarity and both,
        "opposed verbs, other objects": opposed_verbs(ev.existing, ev.new, c) and both,
        "covered but opposed": ev.opposed and least_coverage(ev) > 0.6,
        "two differences": value and ev.opposed,
        "contrast": is_scoped(c),
        "contrast and value": is_scoped(c) and value,
        "norm and fact": norms and value,
        "many-valued": many,
        "many-valued, one for one": many and both and not ev.opposed,
        "same attribute": c.attributes,
        "clash, same subject": bool(ev.clash)
        and here
        and (bool(ev.posts) or not is_past_event(ev.new)),
        "condition in one and value": value
        and bool(ev.signals.condition) != bool(ev.before.condition),
        "narrower and opposed": ev.opposed and _narrower(ev),
        "narrower and value": value and _narrower(ev),
        "attitude, unopposed": is_attitude(ev.existing)
        and not (is_attitude(ev.new) or ev.opposed or value or ev.changed),
        "many-valued, labels": many
        and any(a.kind in {"label", "version"} for a, _ in c.other_values),
        "several values part": len(c.other_values) > 1,
        "only a value parts": value and not ev.left_existing and not ev.left_new,
        "only a value parts, here": value and here and _few_left(ev),
        "only a value agrees": bool(c.equal_values) and not value and _few_left(ev),
        "opposition, few left": opposition and here and _few_left(ev),
        "polarity, few left": polarity and here and _few_left(ev),
        "opposition, verbs apart": opposition and verbs_of(ev.existing, ev.new, c)[1],
        "polarity, verbs apart": polarity and verbs_of(ev.existing, ev.new, c)[1],
        "same path, opposed": ev.same_path and ev.opposed,
        "same path, value": ev.same_path and value,
        "same path, clash": ev.same_path and bool(ev.clash),
        "same path, both left": ev.same_path and both and not value and not ev.opposed,
        "negative existing": ev.existing.negative,
        "negative new": ev.new.negative,
        "partial": is_partial(ev.existing) != is_partial(ev.new),
    }


def left_overs_of(ev: Evidence) -> Findings:
    """What each side says that the other does not."""
    c, left_e, left_n = ev.comparison, ev.left_existing, ev.left_new
    paired = len(c.equal_values) + len(c.other_values)
    lone_e, lone_n = len(ev.existing.quantities) - paired, len(ev.new.quantities) - paired
    return {
        "left existing": min(len(left_e), 4) / 2,
        "left new": min(len(left_n), 5) / 2,
        "left on both": both_left(ev),
        "names on both": any(w.is_name for w in left_e) and any(w.is_name for w in left_n),
        "only names left": bool(left_e) and all(w.is_name for w in (*left_e, *left_n)),
        "one for one": len(left_e) == len(left_n) == 1 and not c.other_values,
        "lone value existing": lone_e > 0,
        "lone value new": lone_n > 0,
        "lone values on both": lone_e > 0 and lone_n > 0 and not paired and not ev.opposed,
        "word against value": bool(left_e) and not left_n and lone_n > lone_e,
        "value against word": bool(left_n) and not left_e and lone_e > lone_n,
        "only existing": has(ev.existing, _SOLE) and bool(left_n),
        "only new": has(ev.new, _SOLE) and bool(left_e),
        "other object": other_object(ev.existing, ev.new, c),
        "other place": ev.places,
    }


def both_left(ev: Evidence) -> bool:
    """Whether each side has words that the other does not."""
    return bool(ev.left_existing) and bool(ev.left_new)


def least_coverage(ev: Evidence) -> float:
    """The share of its words, 0-1, that the side with fewer in common has in common."""
    return min(ev.comparison.coverage_existing, ev.comparison.coverage_new)


def has(reading: Reading, known: frozenset[str]) -> bool:
    """Whether a reading has one of the known words."""
    return not known.isdisjoint(reading.lowers)


def _narrower(ev: Evidence) -> bool:
    """Whether one subject says more than the other ("the fine", "the fine for lost books")."""
    mine = any(w.in_subject for w in ev.left_existing)
    theirs = any(w.in_subject for w in ev.left_new)
    return mine != theirs


def _few_left(ev: Evidence) -> bool:
    """Whether at most one side says a word that the other does not."""
    return len(ev.left_existing) + len(ev.left_new) <= 1

"""The findings on a pair as numbers, each of which has its weights in `weights.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from .change import is_past_event
from .evidence import Evidence
from .frames import Reading
from .nouns import heads_apart, narrower_subject, other_modifier, owned_in_one
from .patterns import agents, opposed_verbs, swapped
from .structure import is_scoped, structure_of
from .subjects import subject_names
from .tables import words
from .tellings import is_attitude, tells_event, verbs_of
from .values import is_many_valued, is_partial, other_object

_TIMES = words(
    "yesterday today tomorrow morning week month weekend noon night january february march april "
    "june july august september october november december monday tuesday wednesday thursday "
    "friday saturday sunday recently"
)
_NORMS = words("must should shall may can required allowed supposed limit target")
_PRONOUNS = words("she he they it her him his their its")
_SOLE = words("only sole single")
_SIGNALS = ("correction", "change", "weak", "additive", "unreal", "past", "temporary", "condition")

Findings = dict[str, object]


# Asked for whether two statements are related, and again by the judge.
@lru_cache(maxsize=256)
def features_of(evidence: Evidence) -> Mapping[str, float]:
    """The features of a pair, from 0 to about 2; one that is absent is 0.

    A finding counts 1 where there is any, a number counts as it is.
    """
    found = {"bias": 1.0}
    for part in _PARTS:
        for name, value in part(evidence).items():
            if value:
                found[name] = float(value) if isinstance(value, (int, float)) else 1.0
    return found


def _signals(ev: Evidence) -> Findings:
    found: Findings = {}
    for name in _SIGNALS:
        found[name] = getattr(ev.signals, name)
        found[name + " before"] = getattr(ev.before, name)
    for kind in sorted(ev.signals.kinds):
        found["change by " + kind] = True
    here = not ev.elsewhere
    return found | {
        "changed": ev.changed,
        "changed, same subject": ev.changed and here,
        "changed, touching": ev.changed and here and ev.touching,
        "changed but agreeing": ev.changed and ev.comparison.agreements,
        "renewed": ev.renewed,
        "weak, touching": bool(ev.signals.weak) and here and ev.touching,
        "weak and value": bool(ev.signals.weak) and bool(ev.comparison.other_values) and here,
    }


def _subjects(ev: Evidence) -> Findings:
    c, away = ev.comparison, bool(ev.elsewhere)
    return {
        "other names": ev.other_names,
        "other person": ev.other_person,
        "other nouns": ev.other_nouns,
        "other scope": ev.other_scope,
        "elsewhere": away,
        "elsewhere but changed": away and ev.changed,
        "elsewhere but corrected": away and bool(ev.signals.correction),
        "elsewhere and event": away and _is_event(ev),
        "elsewhere and value": away and bool(c.other_values),
        "other modifier": other_modifier(c),
        "other agent": ev.other_doer,
        "agent": agents(ev.existing, ev.new) and _both_left(ev),
        "narrower": narrower_subject(ev.new, c),
        "shared subject": any(a.in_subject and b.in_subject for a, b in c.shared),
        "swapped": swapped(ev.existing, ev.new),
        "swapped and opposite": swapped(ev.existing, ev.new) and bool(c.oppositions),
        "heads apart": heads_apart(ev.existing, ev.new, c),
        "heads apart and opposed": ev.opposed and heads_apart(ev.existing, ev.new, c),
        "owned in one": owned_in_one(ev.existing, ev.new, c),
        "owned in one, opposed": ev.opposed and owned_in_one(ev.existing, ev.new, c),
        "pronoun": _has(ev.new, _PRONOUNS),
        "person": bool(subject_names(ev.existing)),
    }


def _values(ev: Evidence) -> Findings:
    c = ev.comparison
    opposition, polarity = bool(c.oppositions), bool(c.polarity)
    value, both = bool(c.other_values), _both_left(ev)
    here = not ev.elsewhere and not ev.changed
    norms = _has(ev.existing, _NORMS) != _has(ev.new, _NORMS)
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
        "covered but opposed": ev.opposed and _least_coverage(ev) > 0.6,
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


def _left_overs(ev: Evidence) -> Findings:
    c, left_e, left_n = ev.comparison, ev.left_existing, ev.left_new
    paired = len(c.equal_values) + len(c.other_values)
    lone_e, lone_n = len(ev.existing.quantities) - paired, len(ev.new.quantities) - paired
    return {
        "left existing": min(len(left_e), 4) / 2,
        "left new": min(len(left_n), 5) / 2,
        "left on both": _both_left(ev),
        "names on both": any(w.is_name for w in left_e) and any(w.is_name for w in left_n),
        "only names left": bool(left_e) and all(w.is_name for w in (*left_e, *left_n)),
        "one for one": len(left_e) == len(left_n) == 1 and not c.other_values,
        "lone value existing": lone_e > 0,
        "lone value new": lone_n > 0,
        "lone values on both": lone_e > 0 and lone_n > 0 and not paired and not ev.opposed,
        "word against value": bool(left_e) and not left_n and lone_n > lone_e,
        "value against word": bool(left_n) and not left_e and lone_e > lone_n,
        "only existing": _has(ev.existing, _SOLE) and bool(left_n),
        "only new": _has(ev.new, _SOLE) and bool(left_e),
        "other object": other_object(ev.existing, ev.new, c),
        "other place": ev.places,
    }


def _events(ev: Evidence) -> Findings:
    here, event, timed = not ev.elsewhere, _is_event(ev), _has(ev.new, _TIMES)
    calm = not ev.signals.change and not ev.signals.correction
    past_e, past_n = is_past_event(ev.existing), is_past_event(ev.new)
    return {
        "past existing": past_e,
        "past new": past_n,
        "both past": past_e and past_n,
        "event": event,
        "event, same subject": event and here,
        "event touches": event and here and ev.touching,
        "event at a time": event and timed,
        "bare event": tells_event(ev.new) and _is_bare(ev),
        "bare event, weak": bool(ev.signals.weak) and _is_bare(ev),
        "past, then a state": tells_event(ev.existing) and not tells_event(ev.new),
        "past, then a state, calm": tells_event(ev.existing) and not tells_event(ev.new) and calm,
        "time in new": timed,
        "ending": ev.ending,
        "ending, same subject": bool(ev.ending) and here,
    }


def _wording(ev: Evidence) -> Findings:
    c = ev.comparison
    calm = not ev.opposed and not c.other_values
    return {
        "coverage existing": c.coverage_existing,
        "coverage new": c.coverage_new,
        "coverage both": _least_coverage(ev),
        "existing covered": calm and c.coverage_existing > 0.99,
        "new covered": calm and c.coverage_new > 0.99,
        "both covered": calm and _least_coverage(ev) > 0.99,
        "paraphrase": ev.paraphrase,
        "paraphrase, no change": ev.paraphrase and not ev.changed,
        "longer": max(0, min(12, len(ev.new.tokens) - len(ev.existing.tokens))) / 5,
    }


def _paths(ev: Evidence) -> Findings:
    existing, new = ev.paths
    both = bool(existing) and bool(new)
    return {
        "touches": ev.touching,
        "touches what is said": ev.touching and _meets_beyond_subject(ev),
        "same path": ev.same_path,
        "other path": both and existing != new,
        "equal path": both and existing == new,
        "fields": ev.comparison.fields,
        "same path, places": ev.same_path and bool(ev.places),
        "same path, same verb": ev.same_path and verbs_of(ev.existing, ev.new, ev.comparison)[0],
        "same path, verbs apart": ev.same_path and verbs_of(ev.existing, ev.new, ev.comparison)[1],
        "same path, elsewhere": ev.same_path and bool(ev.elsewhere),
    }


def _is_event(ev: Evidence) -> bool:
    return is_past_event(ev.new) and not is_past_event(ev.existing)


def _both_left(ev: Evidence) -> bool:
    return bool(ev.left_existing) and bool(ev.left_new)


def _least_coverage(ev: Evidence) -> float:
    return min(ev.comparison.coverage_existing, ev.comparison.coverage_new)


def _meets_beyond_subject(ev: Evidence) -> bool:
    """Whether the two share more than what they are about."""
    c = ev.comparison
    return bool(c.oppositions or c.attributes or c.other_values or c.equal_values) or any(
        not (a.in_subject and b.in_subject) and not a.is_name for a, b in c.shared
    )


def _is_bare(ev: Evidence) -> bool:
    """Whether nothing says that what happened touches what was said before."""
    return not (
        ev.opposed or ev.ending or ev.changed or ev.comparison.other_values or ev.signals.correction
    )


def _narrower(ev: Evidence) -> bool:
    """Whether one subject says more than the other ("the fine", "the fine for lost books")."""
    mine = any(w.in_subject for w in ev.left_existing)
    theirs = any(w.in_subject for w in ev.left_new)
    return mine != theirs


def _few_left(ev: Evidence) -> bool:
    """Whether at most one side says a word that the other does not."""
    return len(ev.left_existing) + len(ev.left_new) <= 1


def _has(reading: Reading, known: frozenset[str]) -> bool:
    return not known.isdisjoint(reading.lowers)


_PARTS: tuple[Callable[[Evidence], Findings], ...] = (
    _signals,
    _subjects,
    _values,
    _left_overs,
    _events,
    _wording,
    _paths,
    structure_of,
)

"""The findings on a pair as numbers, each of which has its weights in `weights.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from ..reading.tables import words
from .change import is_past_event
from .evidence import Evidence
from .nouns import heads_apart, narrower_subject, other_modifier, owned_in_one
from .patterns import agents, swapped
from .structure import structure_of
from .subjects import subject_names
from .tellings import tells_event, verbs_of
from .value_features import Findings, both_left, has, least_coverage, left_overs_of, values_of

_TIMES = words(
    "yesterday today tomorrow morning week month weekend noon night january february march april "
    "june july august september october november december monday tuesday wednesday thursday "
    "friday saturday sunday recently"
)
_PRONOUNS = words("she he they it her him his their its")
_SIGNALS = ("correction", "change", "weak", "additive", "unreal", "past", "temporary", "condition")


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
        "agent": agents(ev.existing, ev.new) and both_left(ev),
        "narrower": narrower_subject(ev.new, c),
        "shared subject": any(a.in_subject and b.in_subject for a, b in c.shared),
        "swapped": swapped(ev.existing, ev.new),
        "swapped and opposite": swapped(ev.existing, ev.new) and bool(c.oppositions),
        "heads apart": heads_apart(ev.existing, ev.new, c),
        "heads apart and opposed": ev.opposed and heads_apart(ev.existing, ev.new, c),
        "owned in one": owned_in_one(ev.existing, ev.new, c),
        "owned in one, opposed": ev.opposed and owned_in_one(ev.existing, ev.new, c),
        "pronoun": has(ev.new, _PRONOUNS),
        "person": bool(subject_names(ev.existing)),
    }


def _events(ev: Evidence) -> Findings:
    here, event, timed = not ev.elsewhere, _is_event(ev), has(ev.new, _TIMES)
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
        "coverage both": least_coverage(ev),
        "existing covered": calm and c.coverage_existing > 0.99,
        "new covered": calm and c.coverage_new > 0.99,
        "both covered": calm and least_coverage(ev) > 0.99,
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


_PARTS: tuple[Callable[[Evidence], Findings], ...] = (
    _signals,
    _subjects,
    values_of,
    left_overs_of,
    _events,
    _wording,
    _paths,
    structure_of,
)

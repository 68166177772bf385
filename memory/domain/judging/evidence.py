"""What speaks for each verdict on a pair: named features, each with its reason in words."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Statement
from .change import Signals, is_past_event, signals_of
from .compare import Comparison, compare
from .frames import Reading, read
from .negation import is_negative
from .patterns import agents, ending, opposed_verbs, other_agent, strangers, swapped
from .subjects import (
    narrower_subject,
    other_modifier,
    other_names,
    other_nouns,
    other_person,
    other_scope,
    subject_names,
)
from .tables import words
from .values import (
    content_left,
    is_many_valued,
    is_paraphrase,
    is_partial,
    other_object,
    other_place,
    value_clash,
)

_MULTI_LEAVES = words(
    "family children pets pet hobbies hobby skills languages tools travel health notes standard "
    "preference interests goals history projects team people customers users diet food calendar "
    "events"
)
_SINGLE_LEAVES = words(
    "city country employer company role title job job_title manager lead owner port region "
    "version status plan tier price budget deadline date due due_date name preferred_name "
    "birthday birthplace timezone time_zone spouse industry sector size contact provider vendor "
    "host database framework editor theme os color colour type kind model cause location address "
    "phone email pronouns gender nationality stage phase priority severity cadence schedule "
    "frequency limit threshold ttl timeout capacity age weight height blood_type degree school "
    "university profession home branch default ceo cfo cto head captain venue room start end "
    "launch_date release_date license licence currency target quota rate contract_value renewal "
    "broker"
)
_TIMES = words(
    "yesterday today tomorrow morning week month weekend noon night january february march april "
    "june july august september october november december monday tuesday wednesday thursday "
    "friday saturday sunday recently"
)
_NORMS = words("must should shall may can required allowed supposed limit target")
_PRONOUNS = words("she he they it her him his their its")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The features of a pair (0 to about 2, absent means 0) and the findings behind them."""

    features: dict[str, float]
    comparison: Comparison
    signals: Signals
    elsewhere: str
    ending: str
    clash: str
    places: str
    strangers: str
    corrects: bool


def weigh(existing: Statement, new: Statement) -> Evidence:
    """All evidence of a pair."""
    e, n = read(existing.content), read(new.content)
    c = compare(e, n)
    signals, before = signals_of(n, recorded_at=existing.at), signals_of(e)
    path = same_path(existing, new)
    swap = other_agent(e, n, c)
    names = "" if swap else other_names(e, n, c)
    person = other_person(e, n, c)
    scope, nouns = other_scope(e, n, c), "" if swap else other_nouns(e, n, c)
    elsewhere = names or person or scope or nouns
    opposed = bool(c.oppositions or c.polarity)
    paraphrase = not opposed and is_paraphrase(e, n, c)
    end = ending(e, n, happened=is_past_event(n) or bool(signals.change))
    aside = signals.additive or signals.unreal or signals.temporary or before.past
    single = path and existing.subject.split(".")[-1] in _SINGLE_LEAVES
    clash = "" if aside else value_clash(e, n, c, same_path=path, single=single)
    places = other_place(e, n, c)
    features: dict[str, float] = {"bias": 1.0}

    def add(name: str, value: object) -> None:
        number = float(value) if isinstance(value, (bool, int, float)) else float(bool(value))
        if number:
            features[name] = number

    for name in ("correction", "change", "weak", "additive", "unreal", "past", "temporary",
                 "condition"):  # fmt: skip
        add(name, getattr(signals, name))
        add(name + " before", getattr(before, name))
    for kind in signals.kinds:
        add("change by " + kind, True)
    touching = touches(c)
    linked = touching or path or (bool(c.fields) and not before.unreal)
    renewed = _renewed(e, n)
    changed = (bool(signals.change) and linked) or renewed
    past_e, past_n = is_past_event(e), is_past_event(n)
    event = past_n and not past_e
    same_subject = not elsewhere
    left_e, left_n = content_left(e, c.left_existing, c), content_left(n, c.left_new, c)
    add("other names", names)
    add("other person", person)
    add("other nouns", nouns)
    add("other scope", scope)
    add("elsewhere", elsewhere)
    add("elsewhere but changed", bool(elsewhere) and changed)
    add("elsewhere but corrected", bool(elsewhere) and bool(signals.correction))
    add("elsewhere and event", bool(elsewhere) and event)
    add("elsewhere and value", bool(elsewhere) and bool(c.other_values))
    add("opposition", c.oppositions)
    add("polarity", c.polarity)
    add("other value", c.other_values)
    add("equal value", c.equal_values)
    add("agreement", c.agreements)
    add("opposition, same subject", bool(c.oppositions) and same_subject and not changed)
    add("polarity, same subject", bool(c.polarity) and same_subject and not changed)
    add("other value, same subject", bool(c.other_values) and same_subject and not changed)
    add("opposition and left-overs", bool(c.oppositions) and bool(left_e) and bool(left_n))
    add("other value and left-overs", bool(c.other_values) and bool(left_e) and bool(left_n))
    add("polarity and left-overs", bool(c.polarity) and bool(left_e) and bool(left_n))
    add("opposed verbs, other objects", opposed_verbs(e, n, c) and bool(left_e) and bool(left_n))
    add("covered but opposed", opposed and min(c.coverage_existing, c.coverage_new) > 0.6)
    add("weak and value", bool(signals.weak) and bool(c.other_values) and same_subject)
    add("contrast and value", bool(c.contrasts) and bool(c.other_values))
    add("many-valued", is_many_valued(e) and is_many_valued(n))
    add(
        "many-valued, one for one",
        is_many_valued(e) and is_many_valued(n) and bool(left_e) and bool(left_n) and not opposed,
    )
    lone_e = len(e.quantities) - len(c.equal_values) - len(c.other_values)
    lone_n = len(n.quantities) - len(c.equal_values) - len(c.other_values)
    add("lone value existing", lone_e > 0)
    add("lone value new", lone_n > 0)
    add("word against value", bool(left_e and lone_n > lone_e and not left_n))
    add("value against word", bool(left_n and lone_e > lone_n and not left_e))
    add("other modifier", other_modifier(c))
    add("other agent", swap)
    add("renewed", renewed)
    add("two differences", bool(c.other_values) and bool(c.oppositions or c.polarity))
    add("coverage existing", c.coverage_existing)
    add("coverage new", c.coverage_new)
    add("coverage both", min(c.coverage_existing, c.coverage_new))
    calm = not opposed and not c.other_values
    add("existing covered", calm and c.coverage_existing > 0.99)
    add("new covered", calm and c.coverage_new > 0.99)
    add("both covered", calm and min(c.coverage_existing, c.coverage_new) > 0.99)
    add("contrast", c.contrasts)
    add("past existing", past_e)
    add("past new", past_n)
    add("event", event)
    add("event, same subject", event and same_subject)
    add("event touches", event and same_subject and touching)
    add("event at a time", event and any(t.lower in _TIMES for t in n.tokens))
    add("both past", past_e and past_n)
    add("touches", touching)
    add("same path", path)
    add("same attribute", c.attributes)
    add("fields", c.fields)
    add("ending", end)
    add("ending, same subject", bool(end) and same_subject)
    add("clash, same subject", bool(clash) and same_subject and not changed and not past_n)
    add("paraphrase", paraphrase)
    add("paraphrase, no change", paraphrase and not changed)
    add("other object", other_object(e, n, c))
    add("other place", places)
    add("narrower", narrower_subject(n, c))
    add("time in new", any(t.lower in _TIMES for t in n.tokens))
    add("longer", max(0, min(12, len(n.tokens) - len(e.tokens))) / 5)
    add("left existing", min(len(left_e), 4) / 2)
    add("left new", min(len(left_n), 5) / 2)
    add("left on both", bool(left_e) and bool(left_n))
    add("names on both", any(w.is_name for w in left_e) and any(w.is_name for w in left_n))
    add("only names left", bool(left_e) and all(w.is_name for w in (*left_e, *left_n)))
    add("one for one", len(left_e) == len(left_n) == 1 and not c.other_values)
    add("shared subject", any(a.in_subject and b.in_subject for a, b in c.shared))
    paths = bool(existing.subject) and bool(new.subject)
    add("other path", paths and existing.subject != new.subject)
    add("equal path", paths and existing.subject == new.subject)
    add("changed", changed)
    add("changed, same subject", changed and same_subject)
    add("changed, touching", changed and same_subject and touching)
    add("changed but agreeing", changed and c.agreements)
    add("weak, touching", bool(signals.weak) and same_subject and touching)
    add("partial", is_partial(e) != is_partial(n))
    norm_e, norm_n = _has(e, _NORMS), _has(n, _NORMS)
    add("norm and fact", norm_e != norm_n and bool(c.other_values))
    add("negative existing", is_negative(e.tokens))
    add("negative new", is_negative(n.tokens))
    add("only existing", _has(e, frozenset({"only", "sole", "single"})) and bool(left_n))
    add("only new", _has(n, frozenset({"only", "sole", "single"})) and bool(left_e))
    add("swapped", swapped(e, n))
    add("swapped and opposite", swapped(e, n) and bool(c.oppositions))
    add("agent", agents(e, n) and bool(left_e) and bool(left_n))
    add("pronoun", _has(n, _PRONOUNS))
    add("person", bool(subject_names(e)))
    corrects = bool(signals.correction) and not before.correction and linked and not names
    return Evidence(
        features, c, signals, elsewhere, end, clash, places, strangers(e, n, c), corrects
    )


def _has(reading: Reading, words: frozenset[str]) -> bool:
    return any(token.lower in words for token in reading.tokens)


def _renewed(e: Reading, n: Reading) -> bool:
    """ "The number is ...", "a new number: ...": the new of something already known."""
    known = {token.stem for token in e.tokens}
    if "new" in known:
        return False
    return any(
        token.lower == "new" and any(after.stem in known for after in n.tokens[i + 1 : i + 3])
        for i, token in enumerate(n.tokens)
    )


def touches(c: Comparison) -> bool:
    """Whether the new statement speaks of what the existing one says, not just of whom."""
    return bool(
        any(not a.is_name for a, _ in c.shared)
        or any(a.is_name and not a.in_subject for a, _ in c.shared)
        or c.oppositions
        or c.attributes
        or c.other_values
    )


def same_path(existing: Statement, new: Statement) -> bool:
    """Whether both carry one subject path whose last part has one value at a time."""
    path = existing.subject
    return bool(path) and path == new.subject and path.split(".")[-1] not in _MULTI_LEAVES

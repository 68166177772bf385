"""Who is told by name after another statement said whom the name is of: "a cat named Miso"."""

from __future__ import annotations

from typing import NamedTuple

from ...types import Verdict
from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .evidence import Evidence
from .losses import DEATHS, loss_of
from .tellings import tells_event

_ANIMALS = words(
    "cat dog pet parrot hamster rabbit horse puppy kitten tortoise turtle goldfish fish pig budgie "
    "bird canary snake lizard gecko pony mare stallion donkey goat sheep cow hen rooster duck "
    "mouse rat ferret gerbil chinchilla cockatiel hedgehog labrador poodle terrier spaniel "
    "retriever collie beagle dachshund greyhound tomcat"
)
_KIN = words(
    "brother sister mother father mum mom dad husband wife son daughter child aunt uncle cousin "
    "nephew niece grandmother grandfather grandma grandpa partner friend neighbour colleague boss "
    "girlfriend boyfriend fiance fiancee roommate flatmate"
)
_CALLED = words("named called")
_BETWEEN = _CALLED | words("is are was were 's name , and : old")
_REACH = 4


class Called(NamedTuple):
    """One creature with a name: the noun and the words of the name."""

    noun: str
    parts: frozenset[str]
    is_one_of_many: bool


def on_called(ev: Evidence) -> tuple[Verdict, str] | None:
    """How an event of somebody stands to the statement that says whose name it is, or None.

    A death ends that one has the animal. Of people, and where several have names, it is a
    dispute: the rest of what was said still holds. Any other event leaves it be.
    """
    e, n, c = ev.existing, ev.new, ev.comparison
    called = _met(ev)
    if called is None or e.negative or ev.signals.unreal or ev.before.unreal:
        return None
    others = _nouns_of(n) - {called.noun}
    if others:
        is_other = all((noun in _KIN) != (called.noun in _KIN) for noun in others)
        return (Verdict.COEXIST, f"another one of that name: {min(others)}") if is_other else None
    lost = loss_of(n)
    if _is_renamed(n):
        return Verdict.DISPUTE, f"the {called.noun} has another name: {n.tokens[n.verb_at].text}"
    if not lost:
        calm = not (c.oppositions or c.polarity or c.other_values or c.contrasts or ev.clash)
        if calm and tells_event(n) and not (ev.ending or _shares_more(ev, called)):
            return Verdict.COEXIST, f"an event of the {called.noun} by that name"
        return None
    if called.noun in _KIN:
        return (Verdict.DISPUTE, f"{called.noun} / {lost}") if lost in DEATHS else None
    verdict = Verdict.DISPUTE if called.is_one_of_many else Verdict.SUPERSEDE
    return verdict, f"{called.noun} / {lost}"


def ends_called(ev: Evidence) -> bool:
    """Whether the new statement tells that one is gone whose name the existing one says."""
    found = on_called(ev)
    return found is not None and found[0] is not Verdict.COEXIST


@kept_by_reading
def _called_in(reading: Reading) -> tuple[Called, ...]:
    """The creatures of which a statement says how they are called."""
    tokens = reading.tokens
    found: list[tuple[str, frozenset[str], bool]] = []
    for name in reading.names:
        i = name.start - 1
        while i >= max(reading.start, name.start - _REACH) and (
            tokens[i].lower in _BETWEEN or _is_named(reading, i)
        ):
            i -= 1
        noun = tokens[i].lower if i >= reading.start and i < name.start else ""
        single = noun.removesuffix("s")
        if noun in _ANIMALS | _KIN or single in _ANIMALS | _KIN:
            is_plural = noun not in _ANIMALS | _KIN
            found.append((single if is_plural else noun, name.parts, is_plural))
    many = len(found) > 1
    return tuple(Called(noun, parts, several or many) for noun, parts, several in found)


def _is_named(reading: Reading, i: int) -> bool:
    return any(name.start <= i < name.end for name in reading.names)


def _met(ev: Evidence) -> Called | None:
    """Which of those called in the existing statement the new one is about, and nothing else."""
    e, n = ev.existing, ev.new
    subject = [word for word in n.words if word.in_subject]
    if not subject or is_copular(n.tokens, n.verb_at):
        return None
    nouns = _nouns_of(n)
    known = frozenset(part for name in e.names for part in name.parts)
    for called in _called_in(e):
        rest = [w for w in subject if w.text not in called.parts and w.text not in known]
        is_named = any(w.text in called.parts and not _owns(n, w) for w in subject)
        if is_named and all(word.text in nouns for word in rest):
            return called
    return None


def _nouns_of(reading: Reading) -> frozenset[str]:
    """The creatures in its subject."""
    subject = frozenset(word.text for word in reading.words if word.in_subject)
    return subject & (_ANIMALS | _KIN)


def _is_renamed(reading: Reading) -> bool:
    verb = reading.tokens[reading.verb_at]
    return verb.stem == _RENAME or (verb.lower in _CALLED and "now" in reading.lowers)


_RENAME = stem("rename")


def _owns(reading: Reading, word: Word) -> bool:
    after = reading.tokens[word.position + 1 : word.position + 2]
    return bool(after) and after[0].lower == "'s"


def _shares_more(ev: Evidence, called: Called) -> bool:
    return any(not a.is_name and a.text != called.noun for a, _ in ev.comparison.shared)

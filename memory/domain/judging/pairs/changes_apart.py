"""A change told of something else that the same one has or does: another account, another duty."""

from __future__ import annotations

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import OBJECT, SUBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from .endings import endings_of
from .evidence import Evidence
from .several import another_of_several
from .subjects import subject_names
from .tellings import tells_event

# Who no longer works or lives somewhere may have given up all that went with it.
_AT_LARGE = frozenset(
    stem(verb)
    for verb in words(
        "be work live exist belong stay attend go come study serve play practise practice run "
        "do have need want use own hold take like"
    )
)

_STATES = frozenset(
    stem(verb)
    for verb in words("be is work live exist belong stay attend study serve go have own use hold")
)


def changes_something_else(ev: Evidence) -> str:
    """What the change is of, where that is not what the existing statement tells, or ""."""
    over = ev.ending.split(" / ")[-1].lower()
    if ev.corrects or over not in {"", "took over", *_ENDED_AT_LARGE}:
        return ""
    another = another_of_several(ev)
    if another or over == "took over":
        return another
    return _another_doing_over(ev) or _doing_to_another_over(ev)


# What ends any state tells nothing of whose end it is.
_ENDED_AT_LARGE = frozenset({"no longer", "stopped", "gave up", "given up", "quit"})


def _another_doing_over(ev: Evidence) -> str:
    """ "Teaches histology", "no longer supervises theses": another thing that one does is over."""
    e, n, c = ev.existing, ev.new, ev.comparison
    if tells_event(e) or e.negative or not (_is_person(e) and _is_person(n)):
        return ""
    if c.other_values or c.oppositions or c.polarity or c.attributes or c.contrasts:
        return ""
    if any(not (a.in_subject and b.in_subject) for a, b in c.shared) or c.equal_values:
        return ""
    over = _given_up(n)
    if over is None or (over.stem in _AT_LARGE and not _acts_on(n, over)):
        return ""
    kinds = {row for word in ev.left_existing for row, _ in word.kinds}
    met = any(row in kinds for word in ev.left_new for row, _ in word.kinds)
    verb = e.tokens[e.verb_at : e.verb_at + 1]
    if met or not verb or verb[0].stem in _STATES:
        return ""
    return f"something else is over: {over.text}"


@kept_by_reading
def _is_person(reading: Reading) -> bool:
    """Whether the statement is about somebody by name and title, and nothing of theirs."""
    others = [word for word in reading.words if word.in_subject and not word.is_name]
    told = {"no", "longer", *_TITLES}
    return bool(subject_names(reading)) and all(word.text in told for word in others)


_TITLES = words("dr mr mrs ms miss prof professor doctor sir")


def _doing_to_another_over(ev: Evidence) -> str:
    """ "Wants to learn the harp", "gave up learning Finnish": what was given up is named."""
    e, n, c = ev.existing, ev.new, ev.comparison
    if tells_event(e) or e.negative or c.other_values or c.equal_values or c.polarity:
        return ""
    if not (_is_person(e) and _is_person(n)) or c.oppositions or c.attributes:
        return ""
    given_up = [word for span, _ in endings_of(n) for word in n.words if word.position in span]
    if not given_up or not given_up[0].text.endswith("ing") or given_up[0].stem in _CONSUMING:
        return ""
    met = {b.position for a, b in c.shared if not b.in_subject}
    doing, things = given_up[0], given_up[1:] or given_up[:1]
    mine = [w for w in ev.left_existing if not w.in_subject and w.position != e.verb_at]
    if not met <= {doing.position} or met & {word.position for word in things} or not mine:
        return ""
    if any(_is_general(a, b) for a in mine for b in things):
        return ""
    return f"something else is over: {' '.join(word.text for word in given_up)}"


_CONSUMING = frozenset(stem(verb) for verb in words("eat drink smoke take use wear buy sell"))


def _is_general(a: Word, b: Word) -> bool:
    """Whether one of the words is known to be the kind of the other, or a word for it."""
    kinds = dict(a.kinds)
    return bool(a.groups & b.groups) or any(
        row in kinds and kinds[row] != member for row, member in b.kinds
    )


def _acts_on(reading: Reading, verb: Word) -> bool:
    """ "Running the website": whether it is done to something."""
    acted = {word.position for word in reading.words if reading.slots[word.position] == OBJECT}
    return verb.stem not in _HAVING and any(place > verb.position for place in acted)


_HAVING = frozenset(stem(verb) for verb in words("have need want own hold take like use"))


@kept_by_reading
def _given_up(reading: Reading) -> Word | None:
    """The first word of what the statement says is over, if it is a doing and not a value."""
    for span, is_state in endings_of(reading):
        if not is_state:
            continue
        for word in reading.words:
            if word.position in span and reading.slots[word.position] != SUBJECT:
                return word
    return None

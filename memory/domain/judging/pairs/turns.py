"""What a turn to something new is of: "uses Jira", "switched to Linear", "moved to Hamburg"."""

from __future__ import annotations

from enum import Enum

from ..reading.frames import Reading, Word
from ..reading.lexicon import Table
from ..reading.slots import OBJECT, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .change_words import MOVING, turning
from .evidence import Evidence
from .tellings import is_passive_state
from .values import BROAD, is_many_valued, is_person
from .values_apart import ANY_PLACE, kinds_left, rows_left, values_told

_RELOCATING = frozenset({stem("relocate")})
_HOUSED = words("company firm office family headquarters school shop clinic museum band")
# What one has by choice until one turns to another, and where one is until one moves.
CHOOSING = frozenset(
    stem(verb)
    for verb in words(
        "use prefer run drink drive read write play take eat wear choose favour rely ride bank "
        "subscribe host build deploy ship track book order code develop study"
    )
)
STAYING = frozenset(stem(verb) for verb in words("live reside dwell locate base sit stay stand"))
HOSTING = frozenset(stem(verb) for verb in words("host run store keep deploy build back"))
EMPLOYED = frozenset(stem(verb) for verb in words("work employ"))
SITES = words("in at on")
# Any thing may be used, so that two names are no two of a kind.
_USING = frozenset(stem(verb) for verb in words("use rely run host deploy build ship track"))
_TARGETS = words("to into over back")
_ARTICLES = words("a an the")
_TIMES = words("date weekday clock frequency")
_PLACE_ROW = (Table.KIND, ANY_PLACE)


class Turn(Enum):
    """What a turn to something new says of a state of the same holder."""

    NONE = "no turn, or of no such state"
    OF_IT = "both are of one kind"
    PERHAPS = "nothing is known of either"
    OF_ELSE = "nothing makes them of one kind"


def turn_of(ev: Evidence) -> Turn:
    """Whether what the new statement turns to takes the place of what the existing one tells.

    Only two of one kind, or a word that both say beside whom they are about, are of one slot; of
    two names that no table knows, one chosen as the other, nobody can say.
    """
    e, n, c = ev.existing, ev.new, ev.comparison
    verb = e.tokens[e.verb_at : e.verb_at + 1]
    if not turning(n) or not verb or e.negative or is_copular(e.tokens, e.verb_at):
        return Turn.NONE
    mine = [w for w in values_told(e, ev.left_existing) if w.position != e.verb_at]
    theirs = [w for w in values_told(n, ev.left_new) if n.slots[w.position] in _TARGETS]
    if not theirs or c.other_values or c.polarity or ev.ending:
        return Turn.NONE
    if c.oppositions:
        return Turn.OF_IT if _are_opposed(ev, mine, theirs) else Turn.NONE
    if is_passive_state(e) or (c.attributes and c.attribute_name() not in BROAD):
        return Turn.NONE
    slots = {e.slots[word.position] for word in mine}
    called = all(word.is_name for word in (*mine, *theirs))
    moves = n.tokens[n.verb_at].stem in MOVING
    if not mine:
        # "Trains on Mondays", "moved to Halle": when, and where.
        timed = bool(e.quantities) and all(each.kind in _TIMES for each in e.quantities)
        whose = any(a.in_subject and b.in_subject for a, b in c.shared)
        return Turn.OF_ELSE if timed and moves and called and whose else Turn.NONE
    if verb[0].stem in EMPLOYED and slots == {"for"} and moves and called:
        # "Moved to Nordlys" may be of the employer, "moved to Hamburg" hardly.
        return Turn.OF_ELSE if is_relocated(n, theirs) else Turn.PERHAPS
    if verb[0].stem in STAYING | EMPLOYED or (verb[0].stem in HOSTING and slots <= SITES):
        return Turn.NONE
    rows_e, rows_n = rows_left(e, mine), rows_left(n, theirs)
    turned = [w for w in ev.left_new if n.slots[w.position] == OBJECT and not w.is_name]
    # "Switched the newsletter from Polish to Danish" is of the newsletter.
    met = not turned and any(
        not (a.in_subject or b.in_subject or a.position == e.verb_at)
        and (not a.is_name or n.slots[b.position] == "from")
        for a, b in c.shared
    )
    if met or rows_e & rows_n:
        return Turn.OF_IT
    if (rows_e and rows_n) or is_relocated(n, theirs) or _PLACE_ROW in rows_e | rows_n:
        return Turn.OF_ELSE
    if moves or _names_its_slot(n, theirs):
        return Turn.OF_ELSE
    taken = [word for word in mine if e.slots[word.position] == OBJECT]
    if not called:
        # Two things of which no table knows the kind, one used and one turned to.
        known = rows_e or rows_n or turned or verb[0].stem not in _TAKEN or not taken
        same = not known and _opening(e, taken[0]) == _opening(n, theirs[0])
        return Turn.PERHAPS if same else Turn.OF_ELSE
    using = verb[0].stem in _USING and not rows_n
    alike = verb[0].stem in CHOOSING and _opening(e, mine[0]) == _opening(n, theirs[0]) != ""
    return Turn.PERHAPS if using or alike else Turn.OF_ELSE


def _names_its_slot(reading: Reading, target: list[Word]) -> bool:
    """ "To a new dentist", "to the night shift": the noun itself says what it is in place of."""
    before = {token.lower for token in reading.tokens[reading.verb_at : target[0].position]}
    compared = any(word.text in _COMPARED for word in target)
    return compared or not _COMPARED.isdisjoint(before) or target[-1].stem in _SLOTS


_COMPARED = words("new another other different cheaper better bigger smaller larger second")
_TAKEN = frozenset(stem(verb) for verb in words("use take wear"))
_SLOTS = frozenset(
    stem(noun)
    for noun in words(
        "shift work job hour class course diet plan contract tariff doctor dentist therapist "
        "physiotherapist lawyer gym bank school college team department office supplier provider "
        "vendor landlord insurance church club trainer teacher hairdresser salon schedule rota "
        "week day position role"
    )
)


def _are_opposed(ev: Evidence, mine: list[Word], theirs: list[Word]) -> bool:
    """ "Prefers dark mode", "switched to light mode": what is left on either side is opposite."""
    one, other = {word.text for word in mine}, {word.text for word in theirs}
    return any(
        not one.isdisjoint(first.split()) and not other.isdisjoint(second.split())
        for _, first, second in ev.comparison.oppositions
    )


def turns_unmet(ev: Evidence) -> bool:
    """Whether all that a turn to something new has in common with the other is whom it is of.

    What one may have several of is met by none.
    """
    c = ev.comparison
    if not turning(ev.new) or ev.same_path or not is_person(ev.existing):
        return False
    if any(not (a.in_subject and b.in_subject) for a, b in c.shared):
        return False
    if is_many_valued(ev.existing):
        # Who speaks Polish may speak Danish.
        return True
    if ev.ending or turn_of(ev) is Turn.OF_IT:
        return False
    return not (c.attributes or c.other_values or c.equal_values or c.oppositions or c.polarity)


def moves_within(ev: Evidence) -> str:
    """ "Lives in Lyon", "moved to a bigger flat": no word of another town; the new home, or ""."""
    e, n = ev.existing, ev.new
    verb = e.tokens[e.verb_at : e.verb_at + 1]
    if not turning(n) or n.tokens[n.verb_at].stem not in MOVING or not verb:
        return ""
    if verb[0].stem not in STAYING and not is_copular(e.tokens, e.verb_at):
        return ""
    mine = [w for w in values_told(e, ev.left_existing) if w.position != e.verb_at]
    theirs = [w for w in values_told(n, ev.left_new) if n.slots[w.position] in _TARGETS]
    if not mine or not theirs or any(word.is_name for word in theirs) or ev.new.quantities[1:]:
        return ""
    in_town = all(w.is_name and e.slots[w.position] == "in" for w in mine)
    addressed = not _ADDRESS.isdisjoint(word.text for word in mine)
    told = n.tokens[n.verb_at + 2 : n.verb_at + 3]
    is_any = bool(told) and told[0].lower in {"a", "an"}
    return theirs[-1].text if in_town and is_any and not addressed else ""


_ADDRESS = words(
    "street road lane avenue square drive court terrace place row close house flat floor building "
    "room tower hall wing centre center park"
)


def _opening(reading: Reading, word: Word) -> str:
    """What kind of article opens the words that go on to this one: "a paper diary" has "a"."""
    place = word.position
    behind = {each.position for each in reading.words}
    while place - 1 in behind and place - 1 > reading.verb_at:
        place -= 1
    before = reading.tokens[place - 1].lower if place else ""
    return before[0] if before in _ARTICLES else ""


def is_relocated(reading: Reading, target: list[Word]) -> bool:
    """ "Relocated", "moved to Hamburg": where one is changes, and not what one uses."""
    verb = reading.tokens[reading.verb_at].stem
    if verb in _RELOCATING:
        return True
    housed = any(word.in_subject and word.text in _HOUSED for word in reading.words)
    return verb in MOVING and (housed or ANY_PLACE in kinds_left(target))

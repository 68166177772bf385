"""The nouns for what one leaves when a state ends: a job, a town, a club, a partner, a school."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.lexicon import ATTRIBUTE_NAMES, Table
from ..reading.slots import is_copular
from ..reading.tables import words
from ..reading.tokens import stem

_OF_WORK = frozenset(
    stem(noun)
    for noun in words(
        "company firm employer job work position post role business organisation organization "
        "startup start-up start agency profession career corporation employment workplace "
        "practice industry trade office department team staff service army navy military force "
        "police convent monastery order clergy parliament government cabinet senate"
    )
)
_OF_SEATS = frozenset(
    stem(noun)
    for noun in words("seat council board committee panel jury parliament senate assembly position")
)
_OF_CONTESTS = frozenset(
    stem(noun) for noun in words("race contest competition election campaign tournament running")
)
_OF_TOWNS = frozenset(
    stem(noun)
    for noun in words(
        "city town country village island area region neighbourhood district county state capital "
        "place continent"
    )
)
_OF_STAYS = frozenset(
    stem(noun)
    for noun in words(
        "hotel hostel hospital clinic building house flat apartment room office airport station "
        "venue ward campsite cabin resort hall site"
    )
)
_OF_BODIES = frozenset(
    stem(noun)
    for noun in words(
        "club party group choir band church union association organisation organization society "
        "team federation league community network"
    )
)
_OF_STUDY = frozenset(
    stem(noun)
    for noun in words(
        "school university college uni studies course programme program degree academy faculty "
        "institute conservatory apprenticeship training"
    )
)
OF_PARTNERS = frozenset(
    stem(noun)
    for noun in words(
        "husband wife partner spouse family boyfriend girlfriend fiance fiancee marriage children "
        "relationship"
    )
)
_EMPLOYED = frozenset(
    {"employer", "role", "lead", "owner", "officer", "manager", "contact", "reviewer"}
)
_WORKING = frozenset(
    stem(verb)
    for verb in words(
        "work employ serve lead manage head run chair direct own supervise coordinate report "
        "oversee earn"
    )
)
_STAFF = words(
    "team board staff council crew department committee management head lead leader chief "
    "director officer ceo cto cfo coo manager"
)
_STUDYING = words("student studies studying study studied pupil trainee apprentice enrolled learns")
_COUPLED = words("married wife husband partner relationship couple engaged spouse together")
_JOINED = words("member members belongs membership plays sings active supporter fan coaches")
_PATRONS = words("customer client guest visitor patient tenant friend fan user subscriber donor")
_FREE_TIME = words("choir band club church orchestra ensemble troupe league scouts volunteers")
_SITTING = frozenset({stem("sit")})
_SEATED = words("councillor councilman councilwoman councilor alderman senator")
_CONTENDING = frozenset(stem(verb) for verb in words("run stand compete"))
_STAYING = frozenset(stem(verb) for verb in words("stay sit wait stand sleep lodge camp"))


@kept_by_reading
def ended_by_leaving(reading: Reading) -> frozenset[str]:
    """The nouns for what one leaves when such a state ends."""
    attributes = {
        ATTRIBUTE_NAMES[row] for mark in reading.of(Table.ATTRIBUTE) for row, _ in mark.ids
    }
    verb = reading.tokens[reading.verb_at : reading.verb_at + 1]
    root = verb[0].stem if verb else ""
    behind = {token.lower for token in reading.tokens[reading.verb_at :]}
    found: frozenset[str] = frozenset()
    if not _STUDYING.isdisjoint(behind):
        found |= _OF_STUDY
    if not _COUPLED.isdisjoint(behind):
        found |= OF_PARTNERS
    if "residence" in attributes:
        found |= _OF_TOWNS
    joined = not _JOINED.isdisjoint(behind)
    if is_presence(reading):
        found |= _OF_STAYS
    if joined and not any(word.stem in _OF_BODIES for word in reading.words):
        found |= _OF_BODIES
    if root in _SITTING or not _SEATED.isdisjoint(behind):
        found |= _OF_SEATS
    if _is_contending(reading, root, behind):
        found |= _OF_CONTESTS
    employed = root in _WORKING or bool(attributes & _EMPLOYED) or is_trade(reading)
    if not (_PATRONS.isdisjoint(behind) and _FREE_TIME.isdisjoint(behind)):
        return found
    if (employed and not joined) or not _STAFF.isdisjoint(behind):
        found |= _OF_WORK
    return found


def _is_contending(reading: Reading, root: str, behind: set[str]) -> bool:
    """ "Is running for mayor", "is a candidate in the contest"."""
    after = reading.tokens[reading.verb_at + 1 : reading.verb_at + 2]
    runs = root in _CONTENDING and bool(after) and after[0].lower in {"for", "in", "against"}
    return runs or not {"candidate", "contestant", "contender", "finalist"}.isdisjoint(behind)


def is_trade(reading: Reading) -> bool:
    """ "Is a nurse": what somebody is wherever it may be."""
    after = reading.tokens[reading.verb_at + 1 : reading.verb_at + 2]
    indefinite = bool(after) and after[0].lower in {"a", "an"}
    return is_copular(reading.tokens, reading.verb_at) and indefinite


def is_presence(reading: Reading) -> bool:
    """ "Is at the office", "is staying at the inn": where somebody is just now."""
    if reading.tokens[reading.verb_at].stem in _STAYING:
        return True
    after = reading.tokens[reading.verb_at + 1 : reading.verb_at + 2]
    placed = bool(after) and after[0].lower in {"at", "in", "on", "inside", "still"}
    return is_copular(reading.tokens, reading.verb_at) and placed

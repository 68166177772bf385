"""What a common noun left may stand for: the firm, club or home that another statement names."""

from __future__ import annotations

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.lexicon import ATTRIBUTE_NAMES, Table
from ..reading.tables import words
from ..reading.tokens import stem
from .leavable import is_trade

_GENERIC = "group team organisation organization project"
_BODIES = frozenset(
    stem(noun)
    for noun in words(
        f"{_GENERIC} club squad side roster crew league band ensemble orchestra troupe choir cast "
        "formation collective association federation society lineup line-up academy"
    )
)
_GROUPS = frozenset(stem(noun) for noun in words(_GENERIC))
_HOMES = frozenset(
    stem(noun)
    for noun in words(
        "house flat apartment home villa cottage bungalow farmhouse condo studio houseboat "
        "household maisonette commune"
    )
)
# Left by whoever was there for an hour, a day or as something else than who works there.
_OF_ANOTHER_KIND = frozenset(
    stem(noun)
    for noun in words(
        "party meeting class lesson lecture seminar workshop wedding funeral concert show play "
        "film movie match game race dinner lunch breakfast supper meal reception ceremony "
        "conference congress summit event festival fair exhibition session call talk interview "
        "hearing trial briefing training rehearsal retreat picnic gathering celebration service "
        "mass queue tour trip stage podium stadium arena theatre theater cinema opera gym pool "
        "sauna spa church mosque temple synagogue choir club band orchestra ensemble troupe "
        "council board committee jury panel shift bench blanket league squad society scouts guild "
        "building room hall hallway house home flat apartment cottage garage basement cellar "
        "attic kitchen bathroom bedroom balcony roof garden yard park playground beach lake "
        "forest wood woods field mountain island city town village country county state region "
        "district area neighbourhood neighborhood street road path motorway highway car bus train "
        "tram plane boat ship ferry taxi lift elevator station airport port harbour platform bar "
        "pub cafe hotel hostel motel resort campsite hospital clinic ward surgery practice "
        "nursing prison jail court shelter table desk door window gate light lights key keys bag "
        "phone note message letter tip umbrella coat wallet book dog cat child children kid kids "
        "baby family husband wife partner girlfriend boyfriend fiance fiancee marriage "
        "relationship parents course degree programme program studies apprenticeship scene crash "
        "chat channel forum list newsletter scheme plan fund insurance subject topic rest bill "
        "past conversation discussion argument debate exam test vicinity premises site plot bed "
        "sofa"
    )
)
# Who is at such a place day by day is so by trade, not as a guest, a patient or a pupil.
_TRADES_OF = (
    (
        "nurse doctor surgeon midwife physician paramedic porter radiologist anaesthetist "
        "pharmacist consultant registrar paediatrician cardiologist psychiatrist matron",
        "hospital clinic ward surgery practice",
    ),
    (
        "cook chef waiter waitress barista bartender sommelier dishwasher",
        "bar pub cafe hotel kitchen restaurant canteen casino",
    ),
    (
        "teacher tutor lecturer professor researcher librarian headteacher headmaster headmistress "
        "principal caretaker janitor counsellor dean scientist",
        "school college university academy institute seminary faculty nursery kindergarten library",
    ),
    ("curator guide guard archivist restorer conservator", "museum gallery library zoo"),
    (
        "cashier clerk assistant manager salesman saleswoman butcher baker bookseller stylist "
        "hairdresser pharmacist",
        "shop store supermarket bakery butcher pharmacy boutique salon market bookshop",
    ),
    ("diplomat attaché attache ambassador consul", "embassy consulate"),
    ("receptionist concierge porter housekeeper", "hotel hostel motel resort hospital clinic"),
    ("actor actress stagehand usher director", "theatre theater cinema opera stage"),
    ("trainer instructor coach", "gym pool studio club"),
    ("priest vicar pastor organist imam rabbi", "church mosque temple synagogue"),
    ("player striker goalkeeper defender midfielder forward", "club squad league"),
)
_TRADES = tuple(
    (words(trades), frozenset(stem(noun) for noun in words(nouns))) for trades, nouns in _TRADES_OF
)
# Whoever works for a firm may come to one of these as a guest, who works at one may not.
_OPEN_TO_ALL = frozenset(
    stem(noun)
    for noun in words(
        "school college university academy institute seminary faculty restaurant museum gallery "
        "shop store supermarket bakery butcher library embassy consulate pharmacy boutique salon "
        "market zoo aquarium bookshop canteen casino nursery kindergarten"
    )
)
# "Left the door open", "left the light on".
_IN_SUCH_A_STATE = words(
    "open shut closed ajar unlocked locked running empty clean dirty alone unsaid undone "
    "unattended unread unfinished behind out"
)
_WORKING = frozenset(stem(verb) for verb in words("work serve fly drive cook write report teach"))
_PLAYING = frozenset(
    stem(verb)
    for verb in words(
        "play swim run row ride race cycle sing drum dance act box wrestle fence ski skate climb "
        "bowl bat coach train perform"
    )
)


def stands_for_named(state: Reading, thing: Word, article: str) -> bool:
    """Whether "left the museum" may tell of "works at the Louvre".

    `thing` is what was left, `article` what stands before it: of work, any noun with "the" may be
    the word for an employer, but for several things and what is known to be of another kind.
    """
    noun = thing.stem
    links = _links_to_names(state)
    if not links or state.negative:
        return False
    root = state.tokens[state.verb_at].stem
    kinds = _kinds_told(state)
    if "residence" in kinds or root == _LIVE:
        return noun in _HOMES and not links.isdisjoint({"with", "at"})
    if root in _PLAYING and not links.isdisjoint({"for", "in", "with"}):
        bodies = {word.stem for word in state.words if word.stem in _BODIES}
        return noun in (_GROUPS if bodies else _BODIES)
    if links.isdisjoint({"at", "for", "on"}) or article != "the":
        return False
    told = state.lowers
    if any(not trades.isdisjoint(told) and noun in nouns for trades, nouns in _TRADES):
        return True
    if not (root in _WORKING or is_trade(state)) or noun in _OF_ANOTHER_KIND:
        return False
    if thing.text in _IN_SUCH_A_STATE or (thing.text[-1:] == "s" and thing.text[-2:] not in _ONE):
        return False
    is_post = is_trade(state) or "as" in told
    return noun not in _OPEN_TO_ALL or ("at" in links and not is_post)


_LIVE = stem("live")
# "The business", "the campus", "the basis".
_ONE = frozenset({"ss", "us", "is"})


def _kinds_told(reading: Reading) -> set[str]:
    return {ATTRIBUTE_NAMES[row] for mark in reading.of(Table.ATTRIBUTE) for row, _ in mark.ids}


@kept_by_reading
def _links_to_names(reading: Reading) -> frozenset[str]:
    """The prepositions before the names behind the verb: "for the BBC", "in the band Rust"."""
    found: set[str] = set()
    for name in reading.names:
        if name.is_subject or name.start <= reading.verb_at:
            continue
        before = [token.lower for token in reading.tokens[max(0, name.start - 3) : name.start]]
        if before and before[-1] in _LINKS:
            found.add(before[-1])
        elif len(before) > 1 and before[-1] == "the" and before[-2] in _LINKS:
            found.add(before[-2])
        elif len(before) > 2 and before[-2] == "the" and before[-3] in _LINKS:
            found.add(before[-3])
    return frozenset(found)


_LINKS = words("at for on in with")

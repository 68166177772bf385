"""The same words in other places: "Ann reports to Bo" is not "Bo reports to Ann"."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.slots import is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from ..reading.verbal import AUXILIARIES
from ..reading.verbs import is_past_form
from .compare import Comparison

# What links two things and says something else the other way round.
_LINKS = words(
    "over than before after to from for of above below under behind against by in on into onto "
    "ahead beats instead via through until"
)
_RANKING = words("over than before after above below under behind ahead of")
# What holds of both alike, whoever is named first.
_MUTUAL = frozenset(
    stem(verb)
    for verb in words(
        "meet met marry married wed resemble match equal border neighbour adjoin differ "
        "collaborate cooperate compete correspond talk speak chat argue agree share divorce date"
    )
)
_MUTUAL_NOUNS = words(
    "brother sister sibling siblings cousin cousins twin friend friends colleague colleagues "
    "neighbour neighbours spouse partner flatmate flatmates fiancee fiance rival teammate peer "
    "roommate husband wife"
)
# Bonds in which one side stands above the other as long as they hold.
_BONDS = frozenset(
    stem(verb)
    for verb in words(
        "report manage lead supervise own employ precede follow exceed outrank belong contain "
        "depend answer mentor teach coach prefer outweigh host parent head"
    )
)


# When something is may be told first or last.
_TIMES = words("date weekday clock duration frequency")


# A sentence has far fewer; without a limit a text made for it would take half a minute.
_PLACES_COMPARED, _LINKS_COMPARED = 32, 48


def turned_round(e: Reading, n: Reading, c: Comparison) -> str:
    """Two shared words that have changed places around the word that links them, or "".

    Lists ("tea and coffee"), bonds that hold both ways, phrases that only moved ("on Monday ...")
    and a passive beside its active are no change of places.
    """
    found = _turned(e, n, c)
    return f"{found[0]} / {found[1]}" if found else ""


def excludes_its_turn(e: Reading, n: Reading, c: Comparison) -> bool:
    """Whether a bond cannot hold both ways: an order, a comparison, who leads whom."""
    found = _turned(e, n, c)
    if found is None:
        return False
    verb = n.tokens[n.verb_at : n.verb_at + 1]
    if verb and (verb[0].stem in _BONDS or is_copular(n.tokens, n.verb_at)):
        return True
    return found[2] in _RANKING


def _turned(e: Reading, n: Reading, c: Comparison) -> tuple[str, str, str] | None:
    """Two words that changed places and the word between them."""
    if _is_mutual(e) or _is_mutual(n):
        return None
    if c.agreements and _stems(e) != _stems(n):
        # "Ann is older than Bo", "Bo is younger than Ann".
        return None
    places = sorted(
        {
            *((a.position, b.position) for a, b in c.shared),
            *((a.start, b.start) for a, b in c.equal_values if a.kind not in _TIMES),
        }
    )
    owners = _owners_turned(e, n)
    if owners:
        return owners
    voices = {_voice(e), _voice(n)}
    if len(voices) > 1 and voices != {_ACTIVE, _BY}:
        return None
    parted = len(voices) > 1
    places, links = places[:_PLACES_COMPARED], _links(e, n)
    if len(links) > _LINKS_COMPARED:
        # The verb stands last.
        links = [*links[:_LINKS_COMPARED], links[-1]]
    for i, (first, to) in enumerate(places):
        for last, at in places[i + 1 :]:
            if first == last or to == at:
                continue
            for link_e, link_n, is_verb in links:
                if link_e in (first, last) or link_n in (to, at):
                    continue
                if not first < link_e < last:
                    continue
                turned = at < link_n < to
                kept = to < link_n < at
                if (kept and is_verb) if parted else turned:
                    first_word, last_word = e.tokens[first].text, e.tokens[last].text
                    return first_word, last_word, e.tokens[link_e].lower
    return None


def _owners_turned(e: Reading, n: Reading) -> tuple[str, str, str] | None:
    """ "Ann is Bo's manager", "Bo is Ann's manager"."""
    if not is_copular(e.tokens, e.verb_at) or not is_copular(n.tokens, n.verb_at):
        return None
    owned = {stem_of: owner for owner, stem_of in _owners(n)}
    for owner, thing in _owners(e):
        other = owned.get(thing)
        if other and other != owner and owner in n.lowers and other in e.lowers:
            return owner, other, thing
    return None


def _owners(reading: Reading) -> list[tuple[str, str]]:
    """Each owner before "'s" with the stem of what is owned."""
    tokens = reading.tokens
    return [
        (tokens[i - 1].lower, tokens[i + 1].stem)
        for i in range(1, len(tokens) - 1)
        if tokens[i].lower == "'s" and i != reading.head
    ]


def other_roles(e: Reading, n: Reading) -> bool:
    """Whether the very same words stand in another order and so play other parts.

    A list in another order, a phrase moved with its preposition and "X is Y" for "Y is X" say the
    same.
    """
    first, second = _plain(e), _plain(n)
    if first == second or sorted(first) != sorted(second) or _parts(e) == _parts(n):
        return False
    if _is_mutual(e) or _is_mutual(n) or _is_fronted(first, second):
        return False
    return not (is_copular(e.tokens, e.verb_at) and is_copular(n.tokens, n.verb_at))


def _plain(reading: Reading) -> list[str]:
    return [token.lower for token in reading.tokens if not token.separator]


def _is_fronted(first: list[str], second: list[str]) -> bool:
    """ "It rains in May", "in May it rains": one is the other from its last preposition on."""
    return any(
        first[cut] in _FRONTED and first[cut:] + first[:cut] == second for cut in range(len(first))
    ) or any(
        second[cut] in _FRONTED and second[cut:] + second[:cut] == first
        for cut in range(len(second))
    )


_FRONTED = words(
    "on in at during since until from by for with after before when if while every each as under"
)


def _parts(reading: Reading) -> list[tuple[str, str]]:
    """Each word with its slot; where no verb was found, with where it stands instead."""
    verbless = reading.head >= len(reading.tokens)
    slots = [
        (str(word.position) if verbless else reading.slots[word.position], word.stem)
        for word in reading.words
    ]
    values = [
        (str(q.start) if verbless else reading.slots[q.start], q.text.lower())
        for q in reading.quantities
    ]
    return sorted([*slots, *values])


def _stems(reading: Reading) -> frozenset[str]:
    return frozenset(word.stem for word in reading.words)


def _links(e: Reading, n: Reading) -> list[tuple[int, int, bool]]:
    """Where the same linking word stands in both, and whether it is the main verb."""
    found = [
        (i, j, False)
        for i, a in enumerate(e.tokens)
        if a.lower in _LINKS and i > e.start
        for j, b in enumerate(n.tokens)
        if b.lower == a.lower and j > n.start
    ]
    verb_e, verb_n = e.tokens[e.verb_at : e.verb_at + 1], n.tokens[n.verb_at : n.verb_at + 1]
    same = bool(verb_e and verb_n) and verb_e[0].stem == verb_n[0].stem
    if same and verb_e[0].lower not in AUXILIARIES and verb_e[0].lower != ":":
        found.append((e.verb_at, n.verb_at, True))
    return found


def _is_mutual(reading: Reading) -> bool:
    verb = reading.tokens[reading.verb_at : reading.verb_at + 1]
    return bool(verb and verb[0].stem in _MUTUAL) or not _MUTUAL_NOUNS.isdisjoint(reading.lowers)


_ACTIVE, _PASSIVE, _BY = "active", "passive", "passive with its doer"
_BE = words("is are was were been be being 's gets got get")


def _voice(reading: Reading) -> str:
    """ "Hired", "was hired", "was hired by": where the one that acts is named."""
    lowers = [token.lower for token in reading.tokens]
    verb = reading.verb_at
    if verb >= len(lowers) or reading.head == verb or not is_past_form(lowers[verb]):
        return _ACTIVE
    if _BE.isdisjoint(lowers[reading.head : verb]):
        return _ACTIVE
    return _BY if "by" in lowers[verb : verb + 4] else _PASSIVE

"""Two entries of one list, or two sides of one person, that no rule of values tells apart."""

from __future__ import annotations

from itertools import pairwise

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import OBJECT, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .evidence import Evidence
from .tellings import tells_event, verbs_of

_AT_TIMES = frozenset(
    stem(verb)
    for verb in words(
        "take eat drink have do play practise practice read teach study visit attend train cook "
        "bake water feed walk clean serve run swim cycle write sing lead host give hold rehearse"
    )
)
_TIMES = words(
    "morning mornings noon midday lunch lunchtime afternoon afternoons evening evenings night "
    "nights bed bedtime breakfast dinner supper tea weekend weekends weekday weekdays spring "
    "summer autumn winter"
)
_TIMED = frozenset({"weekday", "clock"})


def other_entry(ev: Evidence) -> str:
    """ "Takes iron in the morning", "takes zinc before bed": another thing at another time."""
    e, n, c = ev.existing, ev.new, ev.comparison
    if ev.signals.change or ev.signals.correction or c.oppositions or c.polarity:
        return ""
    verb = e.tokens[e.verb_at].stem if e.verb_at < len(e.tokens) else ""
    if verb not in _AT_TIMES or not verbs_of(e, n, c)[0] or tells_event(e) or tells_event(n):
        return ""
    mine, theirs = _object(e), _object(n)
    if mine not in c.left_existing or theirs not in c.left_new or mine is None or theirs is None:
        return ""
    met = [value for pair in c.equal_values for value in pair]
    times = [
        any(word.text in _TIMES for word in left)
        or any(q.kind in _TIMED and q not in met for q in reading.quantities)
        for reading, left in ((e, c.left_existing), (n, c.left_new))
    ]
    return f"another at another time: {mine.text} / {theirs.text}" if all(times) else ""


def _object(reading: Reading) -> Word | None:
    told = [word for word in reading.words if reading.slots[word.position] == OBJECT]
    return told[-1] if told else None


def origin_and_doing(ev: Evidence) -> str:
    """ "Is Finnish", "lives in Ottawa": where somebody is from, and what they do."""
    for one, other in ((ev.existing, ev.new), (ev.new, ev.existing)):
        origin, verb = _origin(one), other.verb_at
        if not origin or verb >= len(other.tokens) or is_copular(other.tokens, verb):
            continue
        if one.negative or other.negative or other.exclusive:
            # "Carries only a Danish passport".
            continue
        if other.tokens[verb].stem not in _STEMMING:
            return f"an origin and a doing: {origin} / {other.tokens[verb].text}"
    return ""


# By these it is told where one is from.
_STEMMING = frozenset(
    stem(verb) for verb in words("come hail originate descend hold have feel become call speak")
)


@kept_by_reading
def _origin(reading: Reading) -> str:
    """The adjective of a people or country that is all that is said of somebody, or ""."""
    verb = reading.verb_at
    told = [token for token in reading.tokens[verb + 1 :] if not token.separator]
    who = [word for word in reading.words if word.in_subject]
    if any(not word.is_name and word.text != "user" for word in who):
        # "Her first language is Finnish".
        return ""
    if len(told) != 1 or not is_copular(reading.tokens, verb):
        return ""
    (token,) = told
    known = token.lower.endswith(_OF_PEOPLES) or token.lower in _PEOPLES
    return token.text if token.capital and known else ""


_OF_PEOPLES = ("ish", "ese", "ian", "ean", "can")
_PEOPLES = words(
    "french dutch greek swiss czech thai german welsh icelandic pakistani israeli iraqi omani "
    "qatari kuwaiti saudi yemeni afghan uzbek kazakh kyrgyz tajik turkmen uyghur tibetan moroccan "
    "croat croatian serb slovak slovene pole dane swede finn latvian basque catalan corsican "
    "filipino filipina argentine cypriot lao burmese malay maltese bangladeshi nepali somali"
)


def other_limb(ev: Evidence) -> str:
    """ "Deaf in the left ear", "deaf in the right ear": one has both of them."""
    if ev.signals.change or ev.signals.correction:
        return ""
    first, second = _limb(ev.existing), _limb(ev.new)
    if not first or not second or first[1] != second[1] or first[0] == second[0]:
        return ""
    met = [b for a, b in ev.comparison.shared if not (a.in_subject or b.in_subject)]
    if all(word.stem == first[1] for word in met):
        # "Broke his left arm", "has the right arm in a cast".
        return ""
    if _is_of_one_side(ev.existing) and _is_of_one_side(ev.new) and not ev.comparison.other_values:
        return ""
    return f"the other one of two: {first[0]} / {second[0]} {first[1]}"


@kept_by_reading
def _is_of_one_side(reading: Reading) -> bool:
    """Whether what is told is so of one side alone: a treatment, a preference, "only", one thing.

    "Was operated on the left hip", "writes with the left hand", "the cast is on the left leg".
    """
    tokens, verb = reading.tokens, reading.verb_at
    if reading.exclusive or _EVENTS & {token.stem for token in tokens}:
        return True
    side = next(
        i
        for i, (each, limb) in enumerate(pairwise(tokens))
        if each.lower in _BOTH_SIDES and limb.stem in _LIMBS
    )
    link = side - 1 if tokens[side - 1].lower not in _DETERMINED else side - 2
    if link < 1:
        return False
    if tokens[link].lower == "with":
        return tokens[verb].stem in _PREFERRING
    if tokens[link].lower not in {"on", "in"}:
        return False
    # "Has the tattoo on the left arm".
    is_one = link > 1 and tokens[link - 2].lower == "the" and link - 1 != verb
    return is_one or (link - 1 == verb and is_copular(tokens, verb))


# Of these one tells once for each side.
_EVENTS = frozenset(
    stem(word)
    for word in words("operate operated operation surgery amputate amputated replace transplant")
) | frozenset(stem(word) for word in words("fall crash accident collision"))
_PREFERRING = frozenset(
    stem(verb) for verb in words("write play throw kick bat bowl eat draw paint shoot serve sign")
)
_DETERMINED = words("the his her their its our my your")


@kept_by_reading
def _limb(reading: Reading) -> tuple[str, str] | None:
    """The side and the part of a body that comes in pairs, where one is told of."""
    found = [
        (side.lower, limb.stem)
        for side, limb in pairwise(reading.tokens)
        if side.lower in _BOTH_SIDES and limb.stem in _LIMBS
    ]
    return found[0] if len(found) == 1 else None


_BOTH_SIDES = words("left right")
_LIMBS = frozenset(
    stem(noun)
    for noun in words(
        "ear eye hand arm leg knee foot hip shoulder ankle wrist elbow lung kidney thumb cheek "
        "breast calf thigh heel toe finger forearm eyelid nostril collarbone wing paw hoof"
    )
)

"""Questions that name a kind of thing somebody has: "Any allergies?", "Do you take medication?".

The answer names the thing alone, and how it is told depends on the kind: nobody "has bee stings".
"""

from __future__ import annotations

import re

from ..language.genders import is_given_name
from ..language.leads import strip_lead
from ..language.syntax import has_verb, is_imperative
from ..language.verbs import GERUNDS, PARTICIPLES
from ..language.words import (
    ADVERBS,
    DETERMINERS,
    KIN,
    NUMBER_WORDS,
    PETS,
    PREPOSITIONS,
    STOPWORDS,
    word_set,
    words_of,
)

# Each kind of thing, and how one of it is told of whoever has it.
_KINDS = (
    (r"allerg(?:y|ies)", "{who} {is} allergic to {what}"),
    (r"(?:food\s)?(?:intolerances?|sensitivit(?:y|ies))", "{who} {is} intolerant to {what}"),
    (r"(?:medications?|medicines?|meds|pills|tablets|supplements|vitamins|prescriptions?)",
     "{who} {take} {what}"),
    (r"(?:pets?|animals?|siblings|brothers\sor\ssisters|kids|children|grandchildren)",
     "{who} {have} {what}"),
    (r"(?:(?:chronic|health|medical|pre-?existing)\s){0,2}(?:conditions?|illness(?:es)?|"
     r"diagnos[ei]s|health\s(?:problems|issues))", "{who} {have} {what}"),
    (r"(?:phobias?|fears?)", "{who} {is} afraid of {what}"),
    (r"(?:diet(?:ary)?|food|eating)\s(?:restrictions?|requirements?|needs|preferences?|rules)",
     "{whose} dietary needs are: {what}"),
    (r"(?:hobb(?:y|ies)|pastimes?)", "{whose} hobby is {what}"),
)  # fmt: skip
_ASKS = (
    r"(?:(?:and|so|oh|first|also|ok|okay),?\s)?(?:do\syou\s(?:happen\sto\s|currently\s|also\s|already\s)?"
    r"(?:have|take|keep|own|suffer\sfrom|follow|need|use|get)\s|"
    r"have\syou\s(?:got\s)?|are\syou\s(?:currently\s)?(?:on|taking)\s|(?:are|is)\sthere\s|what(?:['’]s|\sis|\sare)\s|what\sabout\s|how\sabout\s|(?:tell\sme\s)?(?:about\s)?)?"
    r"(?:(?:any|some|an?|your|the|other|known|specific|particular|regular|serious|food|daily|severe)\s){0,3}"
)
_TAIL = (
    r"(?:\s(?:at\sall|at\shome|at\sthe\smoment|currently|right\snow|regularly|these\sdays|or\s(?:\w+\s)?[\w-]+|to\s(?:food|foods|anything|medication|any\s\w+)|"
    r"(?:that\s)?(?:i|we|you)\s.{3,50}))?"
)
_DOING = (
    (r"are\syou\sallergic\sto\s(?:any\w*|some\w*)(?:\s\w+)?|what\sare\syou\sallergic\sto",
     "{who} {is} allergic to {what}"),
    (r"do\syou\s(?:do|practi[sc]e)\s(?:any|some|a)\s(?:[\w-]+\s)?(?:sports?|exercise|workouts?|"
     r"martial\sarts?)", "{who} {do} {what}"),
    (r"do\syou\splay\s(?:any|some|a)\ssports?", "{who} {play} {what}"),
)  # fmt: skip
_PATTERNS = (
    *((re.compile(rf"{_ASKS}{noun}{_TAIL}", re.I), told) for noun, told in _KINDS),
    *((re.compile(rf"(?:{doing}){_TAIL}", re.I), told) for doing, told in _DOING),
)
# "Does your son have any allergies?" asks of him what "do you have any" asks of the user.
_OF_ANOTHER = re.compile(
    r"(?:does|is|has)\s(?P<who>your\s(?:[a-z-]+\s)?[a-z-]+)\s(?=(?:have|take|got|keep|need|suffer|on|"
    r"taking|allergic|do|play)\b)",
    re.IGNORECASE,
)
_YES = re.compile(r"(?:(?:yes|yeah|yep|yup|oh|well|just|only|mostly|mainly)\b[\s,.:!–—-]+)+", re.I)
_FORMS = {"is": "am", "take": "take", "have": "have", "do": "do", "play": "play"}
_OF_ANOTHERS = {"is": "is", "take": "takes", "have": "has", "do": "does", "play": "plays"}
_NONE = re.compile(
    r"(?:no|none|nope|nothing|not|never|a\sfew|some|several|many|lots|yes|yeah|sure|sometimes|maybe|one|too\smany|plenty|"
    r"thanks?|please|why|ok|okay|that|this|it|them|just\s(?:a\sfew|some))\b(?!\s(?:nuts?|dairy|gluten|meat|sugar|pork|lactose|wheat|fish|dogs?|cats?|of))",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"(?:one|some|several|a\sfew)\s\w", re.IGNORECASE)
_STATES = word_set(
    "vegan vegetarian pescatarian gluten-free dairy-free kosher halal keto diabetic coeliac celiac"
)
# What one is and does not have, whatever was asked for.
_IS_SO = re.compile(
    r"(?:(?:also|very|badly|mildly|severely|slightly|a\sbit|partly)\s)?(?:(?:afraid|scared|terrified|frightened)\sof\s.+|"
    r"(?:allergic|intolerant|sensitive)\sto\s.+|(?:pre-?)?diabetic|asthmatic|epileptic|anaemic|anemic|hypertensive|"
    r"autistic|dyslexic|pregnant|coeliac|celiac|deaf|blind|colou?r-?blind|short-sighted|healthy|"
    r"lactose[\s-]intolerant|gluten[\s-]intolerant)",
    re.IGNORECASE,
)
# How things stand, how often or since when, and so no thing that anybody has.
_NO_THING = (PREPOSITIONS | ADVERBS | STOPWORDS) - DETERMINERS - NUMBER_WORDS.keys() | word_set(
    """
    every each daily weekly monthly yearly nightly twice once today tonight tomorrow yesterday
    same unsure unknown unclear undecided unfortunately uncertain pending busy happy sad afraid
    likely unlikely lately later maybe perhaps possibly hopefully previously formerly regularly
    occasionally seasonally whatever whenever wherever against despite except
    """
)
# Said alone they tell of what kind something is; before a noun they are part of its name.
_ONLY_A_QUALITY = word_set(
    """
    ill sick single free open different similar possible early late hereditary genetic mild severe
    serious bad worse better good old young new seasonal chronic healthy scared terrified allergic
    """
)
_ONE_OF_A_HOME = {word for word in KIN | PETS if not word.endswith("s") and word != "children"}
_AT_HOME = re.compile(r"\b(?:pets|animals|siblings|kids|children|grandchildren)\b", re.IGNORECASE)
_NUMBER_ALONE = re.compile(
    rf"(?:\d+|{'|'.join(NUMBER_WORDS.keys() - {'a', 'an', 'one'})})(?=,|$)", re.I
)
_ITSELF_ALLERGIC = re.compile(r"(?:[\w-]+\s){1,3}(?:allergy|intolerance)", re.IGNORECASE)
_OF_A_TYPE = re.compile(r"type\s(?:\d|one|two|[a-z])\s", re.IGNORECASE)
# "Bruno, a beagle"
_WHO_IS = re.compile(r"[A-ZÀ-Þ][\w-]+,\s(?:an?|the|my|our)\s")
_MAX_WORDS = 8


def of_kind(*, question: str, answer: str) -> str:
    """The answer told as its kind is told ("I am allergic to bee stings"), in the answerer's voice.

    "" where the question asks for no such kind, or the answer names nothing.
    """
    asked = strip_lead(text=question).rstrip("?!. ")
    another = _OF_ANOTHER.match(asked)
    if another:
        asked = f"{'are' if asked[:2].lower() == 'is' else 'do'} you {asked[another.end() :]}"
    told = next((told for pattern, told in _PATTERNS if pattern.fullmatch(asked)), "")
    if not told:
        return ""
    bare = strip_lead(text=answer)
    yes = _YES.match(bare)
    given = bare[yes.end() if yes else 0 :].rstrip(".! ")
    words = words_of(given)
    if not words or len(words) > _MAX_WORDS:
        return ""
    if _NONE.match(given) and not ("have" in told and _COUNTED.match(given)):
        return ""
    is_so = _IS_SO.fullmatch(given)
    if not is_so and has_verb(text=given) and len(words) > 1 and not _OF_A_TYPE.match(given):
        return ""
    home, number = _AT_HOME.search(asked), _NUMBER_ALONE.match(given)
    if home and number:
        given = f"{number.group().lower()} {home.group()}{given[number.end() :]}"
    if is_so:
        told = "{who} {is} {what}"
    elif _ITSELF_ALLERGIC.fullmatch(given):
        article = "" if words[0] in DETERMINERS else "an " if words[0][0] in "aeiou" else "a "
        told = f"{{who}} {{have}} {article}{{what}}"
    elif not _is_thing(given, told):
        return ""
    if answer.startswith(given) and _is_plain(given):
        given = given[:1].lower() + given[1:]
    if "dietary" in told and set(words) <= _STATES | {"and"}:
        told = "{who} {is} {what}"
    if " hobby " in told and (" and " in given or "," in given):
        told = told.replace("hobby is", "hobbies are")
    who = f"My{another['who'][4:]}" if another else "I"
    forms = _OF_ANOTHERS if another else _FORMS
    return told.format(who=who, whose=f"{who}'s" if another else "My", what=given, **forms)


def _is_thing(given: str, told: str) -> bool:
    """Whether an answer names things: no place, time, state, doing, and no wish beside them."""
    words = words_of(given)
    if words[0] in _NO_THING or any(is_imperative(text=part) for part in given.split(", ")[1:]):
        return False
    if words[0] in GERUNDS:
        return "hobby" in told or "afraid" in told or " {do} " in told or " {play} " in told
    if words[0] in PARTICIPLES and (len(words) == 1 or words[1] in PREPOSITIONS):
        return False
    if len(words) == 1:
        # "Only child": one of a family needs its article.
        return words[0] not in _ONLY_A_QUALITY | _ONE_OF_A_HOME | NUMBER_WORDS.keys()
    return not _NUMBER_ALONE.match(given)


def _is_plain(given: str) -> bool:
    """Whether the capital of an answer only begins its sentence."""
    first = words_of(given)[0]
    if first in DETERMINERS:
        return True
    if _WHO_IS.match(given):
        return False
    return given[1:2].islower() and "'" not in first and not is_given_name(name=given.split()[0])

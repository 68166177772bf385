"""How much a clause says that will still hold, or happened, of somebody or something named."""

from __future__ import annotations

import re

from ..days.moments import FoundDate
from ..language.names import names_in
from ..language.verbs import GERUNDS, THIRD, past_of
from ..language.words import KIN, PETS, content_words, is_number_word, word_set, words_of

_OWNED = re.compile(
    r"\b(?:my|our|his|her|their|its)\s(?:[\w-]+\s){0,2}?[a-z]{3,}|\bthe\s(?:[\w-]+\s){0,3}?[a-z]{4,}",
    re.IGNORECASE,
)
_LASTS = re.compile(
    r"\b(?:since|for\s(?:\w+\s)?(?:years?|months|weeks|decades)|until|till|as\slong\sas|every|each|always|"
    r"never|usually|no\slonger|any\s?more|instead\sof|rather\sthan|used\sto|not\s(?:the|a)\s|only|both|"
    r"in\scharge|belongs?|owns?|called|named|made\s(?:of|from|in|by)|based|keeps?|kept|lives?|stands?|"
    r"runs?\son|uses?|needs?|contains?|costs?|weighs?|opens?|closes?|works?|means|allergic|"
    r"responsible|replaced?|reports?\sto|comes?\sfrom|(?:i|we|he|she|they|\w+)\s(?:don['’]t|do\snot|doesn['’]t)\s\w+|trying\sto|because|so\sthat|in\sorder\sto|except|unless)\b",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"\b(?:is|are|has|have|['’]s|['’]re|['’]ve|isn['’]t|aren['’]t|hasn['’]t)\b", re.I
)
_DID = re.compile(r"^(?:(?:and|but|so|also|then)\s)?(?:i|we)(?:['’]ve)?\s", re.IGNORECASE)
# What goes on and is worth telling ("learning to ski"), unlike what somebody is just doing.
_UNDERTAKINGS = word_set(
    """
    learn study train plan build write save work migrate rewrite renovate develop design prepare
    organise organize research move restore translate raise teach grow expect run rent lease hire
    recruit collect train rebuild refactor launch phase switch sell buy close open merge replace
    convert try retire join leave suffer recover undergo
    """
)
_GOES_ON = re.compile(
    r"(?:\b(?:am|is|are|was|were|be|been)|['’](?:m|s|re))\s(?:(?:\w+ly|just|still|now|always|also|"
    r"currently|again|not)\s)?(?P<ing>\w+ing)\b",
    re.IGNORECASE,
)
# What the senses and the body are busy with, and small mishaps.
_TRIFLES = word_set(
    """
    spill stare smell yawn cough sneeze giggle snore bark hear listen sit stumble wake sleep nap
    doze shiver sweat hum whistle scream shout cry laugh chuckle smile grin flicker buzz ring
    beep blink honk squeak creak microwave type scroll gaze jump purr mow drill sing dance rain
    snow pour drop burn fall grab bite knock trip bump forget hiccup drool fidget rumble growl
    chew munch sip
    """
)
_PAST_BASES = {past_of(base=base): base for base in _TRIFLES} | {"burnt": "burn", "spilt": "spill"}
_MOMENTARY = re.compile(
    r"\b(?:i|we|he|she|they|it|the\s[\w-]+|my\s[\w-]+)(?:['’](?:ve|s))?\s(?:has\s|have\s)?(?:just|nearly|almost)\s\w+",
    re.IGNORECASE,
)
_HERE = re.compile(
    r"\b(?:here|outside|next\sdoor|in\sthe\sbackground|right\snow|just\snow|at\sthe\smoment|at\slast|finally|"
    r"next\sto\sme|in\sfront\sof\sme|today|tonight|already|again|almost|all\smorning|"
    r"this\s(?:is\sthe|morning|chair|train|room|place|office|queue|time|one|thing|song)\b)\b",
    re.IGNORECASE,
)
_NOBODY_IN_PARTICULAR = re.compile(
    r"^(?:(?:and|but|so|well)\s)?(?:some(?:body|one|thing)?\b|any(?:body|one|thing)\b|there(?:['’]s|\sis)\s"
    r"(?:a|an|some)\b|a\s(?:guy|man|woman|lady|bloke|kid|dog|bird)\b|the\s(?:guy|man|woman|lady|bloke|kid)\b|"
    r"it(?:['’]s)?\b|that(?:['’]s)?\b|this\b|these\b|those\b|they(?:['’]re)?\b|either\b|one\s(?:can|should|has)\b)",
    re.IGNORECASE,
)
_MERE_VERDICT = re.compile(
    r"(?:\b(?:is|are|was|were|looks?|sounds?|feels?|felt|seems?|tastes?|smells?)|['’](?:s|re))\s"
    r"(?:(?:so|really|very|such|a|an|just|pretty|quite|too|absolutely|truly|all|rather|a\sbit|"
    r"totally|simply|completely|kind\sof|always)\s){0,3}(?:awesome|amazing|great|good|nice|cool|"
    r"lovely|wonderful|beautiful|fantastic|incredible|gorgeous|endless|awful|terrible|horrible|"
    r"dreadful|annoying|boring|fun|funny|sweet|cute|weird|strange|odd|crazy|mad|wild|rough|tough|"
    r"sad|happy|tired|exhausted|lost|ready|fine|okay|ok|perfect|delicious|disgusting|brilliant|"
    r"impressive|ridiculous|hilarious|a\smess|a\snightmare|a\sdisaster|a\sjoke|a\spain|a\sdream|"
    r"a\srelief|madness|chaos|heaven|hell|insane|unbelievable|noisy|loud|quiet|cold|hot|warm|wet)"
    r"(?:\s(?:again|today|tonight|though|there|now|this\s\w+|at\slast))*\W*$",
    re.IGNORECASE,
)
_SO_MUCH = re.compile(
    r"\b(?:is|are|was|were|['’]s|['’]m|['’]re)\s(?:so|like\s(?:an?|the)|full\sof|huge|tiny|massive)\b|\b(?:can|could)\s(?:hear|see|smell|feel)\b",
    re.IGNORECASE,
)
_TO_THE_AGENT = re.compile(r"\b(?:you|your|you['’](?:re|ve|ll|d))\b", re.IGNORECASE)
_EMPHATIC = re.compile(
    r"!|\b(?:such|what\sa|literally|honestly|obviously|damn|bloody|i\sswear|could\s(?:cry|scream))\b",
    re.I,
)
_TODAY = re.compile(
    r"\b(?:today|tonight|this\s(?:morning|afternoon|evening)|last\snight)\b", re.IGNORECASE
)


def bearing(*, clause: str, told: str, owner: str, dates: tuple[FoundDate, ...]) -> float:
    """How much speaks for a clause, about -6 to 10, by weights that were set by hand.

    Names, figures, dates, owned things and words that tell of a state or a lasting thing count for
    it; what only happens around the speaker now, verdicts and words without a referent against.
    """
    words = words_of(clause)
    content = content_words(clause)
    names = [name for name in names_in(told) if name != owner]
    score = 1.2 * min(2, len(names))
    score += 1.2 * min(2, sum(word[0].isdigit() or _counts(word) for word in words))
    score += 1.2 * bool(dates and not _TODAY.search(clause))
    score += 1.0 * bool(_OWNED.search(clause))
    score += 1.0 * bool(_LASTS.search(clause))
    score += 0.6 * bool((KIN | PETS) & set(words))
    score += 1.0 * bool(_DID.match(clause))
    score += 0.5 * bool(_STATE.search(clause))
    score += 0.4 * min(4, len(content) - 2)
    going = _GOES_ON.search(clause)
    base = GERUNDS.get(going.group("ing").lower(), "") if going else ""
    if going and base:
        score += 0.6 if base in _UNDERTAKINGS else -2.2
    score -= 1.0 * min(2, len(_HERE.findall(clause)))
    if not names and not dates:
        score -= 1.0 * bool(_MOMENTARY.search(clause))
        score -= 1.5 * any(_verb_of(word) in _TRIFLES for word in words)
    score -= 1.5 * bool(_NOBODY_IN_PARTICULAR.match(told))
    score -= 2.5 * bool(_MERE_VERDICT.search(clause))
    score -= 1.5 * bool(_SO_MUCH.search(clause))
    score -= 0.8 * bool(_TO_THE_AGENT.search(clause))
    score -= (1.0 if len(content) < 4 else 0.5) * bool(_EMPHATIC.search(clause))
    return score


def _verb_of(word: str) -> str:
    """The base of a verb in the past, in the third person or in -ing; else the word itself."""
    return GERUNDS.get(word) or THIRD.get(word) or _PAST_BASES.get(word, "")


def _counts(word: str) -> bool:
    return is_number_word(word)

"""Closed word classes and small lexicons that several extraction rules share."""

from __future__ import annotations

import re
from functools import lru_cache

from ...number_words import ONES, TENS


def word_set(text: str) -> frozenset[str]:
    """A lexicon written as plain text: its words, separated by white space."""
    return frozenset(text.split())


WORD = re.compile(r"[A-Za-zÀ-ɏ0-9][\wÀ-ɏ]*(?:['’.\-/][\wÀ-ɏ]+)*")

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july",
    "august", "september", "october", "november", "december",
)  # fmt: skip
NUMBER_WORDS = {
    **ONES, **{word: value for word, value in TENS.items() if value <= 60},
    "a": 1, "an": 1, "hundred": 100,
}  # fmt: skip

STOPWORDS = word_set(
    """
    a an the and or but nor so yet if then than that this these those there here it its it's he
    she they them their theirs his her hers him i i'm i've i'd i'll me my mine we we're we've us
    our ours you your yours to of in on at by for from with without into onto over under about
    as is are was were be been being am do does did have has had will would can could shall
    should may might must not no yes ok okay very really just also too only even still already
    again well now oh ah hm hmm hey hi hello thanks thank please sorry actually anyway some any
    all both each every more most much many few less one ones thing things stuff lot lots kind
    sort bit who whom whose which what when where why how because since while although though up
    down out off don't doesn't didn't isn't aren't wasn't can't won't that's there's let's
    what's get got go going good great nice cool fine right sure wow yeah yep nope nah
    """
)
ADVERBS = word_set(
    """
    always never usually often sometimes just also really only still already now then actually
    currently finally recently definitely probably generally normally mostly mainly both even
    rarely hardly almost once ever soon kinda sorta too well all currently basically simply
    certainly truly totally either neither
    """
)
PREPOSITIONS = word_set(
    """
    of in on at by for from with without into onto over under about as to through during before
    after since until till against between among across behind beyond near via per within toward
    towards around next
    """
)
DETERMINERS = word_set(
    """
    a an the this that these those my your his her its our their some any no every each all both
    another one two three four five six seven eight nine ten most many several
    """
)
KIN = word_set(
    """
    mother father mom mum dad mama papa parents parent brother sister siblings son daughter wife
    husband spouse partner girlfriend boyfriend fiance fiancé fiancée fiancee aunt uncle cousin
    stepson stepdaughter stepbrother stepsister stepchildren son-in-law daughter-in-law
    brother-in-law sister-in-law in-laws granddad nana grandchildren
    grandmother grandfather grandma grandpa granddaughter grandson niece nephew kid kids child
    children twins baby family roommate flatmate stepmother stepfather mother-in-law
    father-in-law
    """
)
PETS = word_set("dog cat puppy kitten pet pets dogs cats horse rabbit parrot hamster")
PEOPLE_NOUNS = KIN | word_set(
    """
    boss manager colleague coworker teammate friend friends neighbour neighbor doctor dentist
    teacher tutor coach mentor designer developer engineer analyst lead director owner founder
    accountant lawyer nurse intern contractor consultant architect assistant head chief ceo cto
    cfo supervisor landlord customer client contact recruiter editor producer photographer chef
    gardener plumber electrician carpenter therapist midwife trainer student pupil candidate
    successor predecessor representative buyer supplier volunteer caretaker librarian curator
    researcher scientist professor admin administrator operator technician
    """
)
ORG_SUFFIXES = word_set(
    """
    inc ltd llc gmbh ag co corp corporation company group labs lab robotics logistics systems
    solutions software technologies tech museum university college school hospital clinic bank
    shipping foods energy media studios studio partners consulting industries foundation
    institute council ministry agency airlines motors pharma health insurance press books
    library brewery bakery collective cooperative works gallery galerie hotel restaurant café cafe
    primary secondary grammar elementary nursery kindergarten
    theatre theater church academy fund trust union society association bookshop records
    """
)
# Months, verbs and other words that people are called, too.
NAMES_TOO = word_set(
    """
    april may june august jan will mark bill grant sue rob pat chase drew grace hope rose pierce
    jack nick summer autumn
    """
)
# Capitalised at the start of a sentence without being a name.
COMMON_OPENERS = STOPWORDS | ADVERBS | PREPOSITIONS | DETERMINERS | word_set(
    """
    first second third last next new old another stack tests test contract budget deadline price
    cost legal marketing sales finance support people everyone nobody someone
    everybody somebody anybody anyone folks guys others neither either yesterday today
    tomorrow tonight monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december root quick morning
    evening good great nice cool lovely perfect fine right sure wow yeah yep haha remember call
    notes update news order orders invoice payment parking entry access production staging
    backend frontend design data code docs documentation users customers clients tickets money
    time work home lunch dinner breakfast rent water heating deliveries delivery visitors guests
    staff kids children twins mum mom dad grandma grandpa spring summer autumn fall winter
    christmas easter besides however therefore meanwhile instead otherwise plus whenever
    wherever whatever not don't doesn't didn't isn't won't can't let's it's that's there's i'm
    i've i'd i'll we're we've everything something nothing anything half quarter none same such
    whoever bingo congrats small big large simple quiet cheap local short long dark light fresh
    plain early late mostly gotta gonna looks sounds seems been being having getting going
    trying since ready done open closed free like unlike scratch same young
    """
)  # fmt: skip


# The rules ask for the words of one clause a dozen times in a row.
@lru_cache(maxsize=512)
def _words(text: str) -> tuple[str, ...]:
    return tuple(WORD.findall(text.lower().replace("’", "'")))


def words_of(text: str) -> list[str]:
    """The lower-case words of a text, contractions and hyphenated words whole."""
    return list(_words(text))


def content_words(text: str) -> list[str]:
    """The words of a text that carry meaning by themselves."""
    return [word for word in words_of(text) if word not in STOPWORDS and word not in ADVERBS]


def is_number_word(word: str) -> bool:
    """Whether a word in lower case is a number from two on: "six", "seventy", "thirty-six"."""
    tens, _, ones = word.partition("-")
    if ones:
        return tens in TENS and ones in ONES
    return (word in NUMBER_WORDS or word in TENS) and word not in {"a", "an", "one"}


def capitalised(text: str) -> str:
    """The text with its first letter in upper case, the rest untouched."""
    return text[:1].upper() + text[1:]


def display_name(name: str) -> str:
    """A person's name as a sentence writes it: a slug such as "sarah" becomes "Sarah"."""
    name = " ".join(name.split())[:60]
    if name and name == name.lower():
        return " ".join(part.capitalize() for part in name.replace("_", " ").split())
    return name

"""English verbs: which words are verbs, their forms, and their agreement with a subject."""

from __future__ import annotations

from .verb_list import IRREGULAR, REGULAR
from .words import DETERMINERS, PREPOSITIONS, STOPWORDS, word_set

AMBIGUOUS = word_set(
    """
    ack act advance aim alert anchor answer auction audit award back bail balance bark base batch
    beat benefit bet bill blame blend block blog bluff board boil bolt book boost bore bounce bow
    brake break breed bribe brief brush budget bump burn burst cache call calm camp can caption care
    cast upset
    cause chair challenge change charge chase chat check chop claim clash clean clear close coach
    coat code command comment complete compost conflict contract control cook cool corrupt cost
    count cover crawl credit crop cure cut cycle damage dance date deal debate decay delay demand
    deploy deposit design dial direct dispatch dispute dive dock document double doubt draft
    drain dress drill drink drip drive drop dry dub dump duplicate dye echo elect email end equal
    estimate excuse exercise exhibit experience export face fall farm favour feed fight filter
    find fine fire fish fit fix flag flash float flood flow focus foil fold forage force forecast
    fork form format frame fuel fume function fund garden glaze glue grade grant graze grill
    group guard guess guide halt hammer hand harm hash hatch head heat help herd highlight hike
    hint hit hitch hold hope host hover hug hum import increase index influence infuse interview
    invoice issue itch jam joke jump kayak kick label lack lag land last launch lay lead leak
    lease lecture licence license lie lift like limit link lint list litter load loan lobby lock
    log look loop love lower mail map march mark mask master match matter mature may mean measure
    mess mind mirror mix mock model moderate monitor moor mop mount must nag nail name narrow
    need nest nibble number nurse object offer open order paddle page park pass patch pause pedal
    perch phase phone pick pilot pin ping pitch plan plant plaster play pledge plough plug polish
    poll pour power practice praise present press print process produce promise proof proxy pull
    puncture purchase push query question queue race rain raise rank rate ration read record
    redesign refund relay release remark rent repair reply report request research reserve reset
    resort rest return review reward ride ring rise risk roast rock roll route rule run rust sail
    sample sand scan scare schedule scrap scratch screen seal search seat second secure seed
    sense set sew shake shape shard share shelter shift shine ship shop shot show shuffle shuttle
    sign signal sink sketch ski skim slack sleep slice slide slip slow smash smell smoke snow
    soak solder sort sound span spare spark spell spill spin splice split sponsor spot spray
    spread sprint sprout squash squat squeeze stack staff stage stain stall stamp stand start
    state steam step stew stick stir stitch stock stop store strain stress strike strip struggle
    study subside substitute supply support surprise swallow swap sweat sweep swim swing switch
    tackle tag talk tap tape target taste taxi tear telephone test third tick tie tile tilt time
    tint toast touch tour tow trace track trade train transfer transport trap travel treat trek
    trigger triple tune turn tutor twist type update upgrade upload use value vet veto video view
    visit voice void volunteer vote wait walk wallpaper warm wash waste watch water wedge weed
    welcome whip whisper whistle widow will win wish witness work worry wrap wreck yield zip
    """
)
MODALS = word_set(
    """
    can could may might must shall should will would can't cannot couldn't mustn't shouldn't
    won't wouldn't ought needn't
    """
)
AUXILIARIES = word_set(
    """
    am is are was were be been being have has had do does did isn't aren't wasn't weren't
    haven't hasn't hadn't don't doesn't didn't ain't
    """
)


def _doubled(base: str) -> bool:
    """Whether the last consonant doubles before -ed and -ing (stop, plan)."""
    vowels = "aeiou"
    return (
        len(base) >= 3
        and base[-1] not in vowels + "wxy"
        and base[-2] in vowels
        and base[-3] not in vowels
        and (len(base) <= 4 or base in {"commit", "prefer", "refer", "submit", "cancel"})
        and base not in {"open", "edit", "visit", "offer", "enter"}
    )


def third_person(*, base: str) -> str:
    """The form of a verb after he, she or a singular name: "go" gives "goes"."""
    special = {"be": "is", "have": "has", "do": "does", "go": "goes"}
    if base in special:
        return special[base]
    if base.endswith(("s", "x", "z", "ch", "sh")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ied"
    return base + base[-1] + "ed" if _doubled(base) else base + "ed"


def _gerund(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")) and base != "be":
        return base[:-1] + "ing"
    return base + base[-1] + "ing" if _doubled(base) else base + "ing"


_IRREGULAR_ROWS = [row.split(":") for row in IRREGULAR.split()]
_IRREGULAR_PAST = {row[0]: frozenset(row[1].split(",")) for row in _IRREGULAR_ROWS}

BASES = frozenset(REGULAR.split()) | frozenset(_IRREGULAR_PAST) - {"be"}
THIRD = {third_person(base=base): base for base in sorted(BASES)}
_REGULAR_PAST = {_past(base): base for base in sorted(BASES) if base not in _IRREGULAR_PAST}
PAST = frozenset(_REGULAR_PAST) | frozenset(
    form for forms in _IRREGULAR_PAST.values() for form in forms
)
PAST_BASES = {
    **{form: base for base, forms in sorted(_IRREGULAR_PAST.items()) for form in sorted(forms)},
    **_REGULAR_PAST,
}
IRREGULAR_PAST = frozenset(form for forms in _IRREGULAR_PAST.values() for form in forms)
PARTICIPLES = frozenset(_REGULAR_PAST) | frozenset(row[2] for row in _IRREGULAR_ROWS)
GERUNDS = {_gerund(base): base for base in sorted(BASES)}
UNMARKED = frozenset(base for base, forms in _IRREGULAR_PAST.items() if base in forms)


def is_past_form(*, word: str) -> bool:
    """Whether a word can only be a past form ("went", "decided"); "read" and "put" are not."""
    if word in UNMARKED:
        return False
    if word in PAST or word in {"was", "were", "did", "had", "got"}:
        return True
    if "-" in word and not word.startswith(("re-", "un-", "pre-", "co-")):
        # "left-handed", "half-finished": what somebody or something is like.
        return False
    return word.endswith("ed") and len(word) > 4 and word not in BASES and not word.endswith("eed")


def is_finite(*, word: str) -> bool:
    """Whether a word can carry a clause as its verb, without asking where it stands."""
    word = word.lower().replace("’", "'")
    if (
        word in AUXILIARIES
        or word in MODALS
        or word.endswith(("'s", "'m", "'re", "'ve", "'ll", "'d", "n't"))
    ):
        return True
    if word in THIRD:
        return THIRD[word] not in AMBIGUOUS
    return word in PAST or (word in BASES and word not in AMBIGUOUS)


def agree(*, word: str) -> str:
    """The word in the third person singular when it is a present verb, else unchanged."""
    low = word.lower().replace("’", "'")
    irregular = {
        "am": "is", "are": "is", "have": "has", "do": "does", "don't": "does not",
        "haven't": "has not", "aren't": "is not", "weren't": "was not", "were": "was",
        "can't": "cannot", "won't": "will not", "didn't": "did not", "isn't": "is not",
        "wasn't": "was not", "couldn't": "could not", "shouldn't": "should not",
        "wouldn't": "would not", "hadn't": "had not", "gonna": "is going to",
        "wanna": "wants to", "gotta": "has to", "cannot": "cannot",
    }  # fmt: skip
    if low in irregular:
        return irregular[low]
    if low in MODALS or low in AUXILIARIES or is_past_form(word=low) or low in GERUNDS:
        return word
    if low in BASES:
        return third_person(base=low)
    if low in STOPWORDS or low in PREPOSITIONS or low in DETERMINERS:
        return word
    if low in THIRD or low.endswith(("ed", "ing", "s", "ly")) or not low.isalpha():
        return word
    return third_person(base=low)


def past_of(*, base: str) -> str:
    """The simple past of a base form: "go" gives "went"."""
    forms = _IRREGULAR_PAST.get(base)
    return sorted(forms)[0] if forms else _past(base)

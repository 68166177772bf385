"""English verbs: which words are verbs, their forms, and their agreement with a subject."""

from __future__ import annotations

from .verb_list import IRREGULAR, REGULAR
from .words import DETERMINERS, PREPOSITIONS, STOPWORDS, word_set

AMBIGUOUS = word_set(
    """
    ack act advance aim alert answer audit award back balance base benefit bet blame blend block
    blog boil book boost bore bounce brake break brief brush bump burn cache call calm camp can
    caption care cause chair challenge change charge chase chat check chop claim clean clear
    close code command comment complete compost conflict contract control cook cool corrupt cost
    count cover crawl credit crop cure cut cycle damage dance date deal debate decay delay
    demand deploy design dial direct dispatch dispute dive dock document double doubt draft
    drain dress drink drive drop dry dump duplicate echo email end equal estimate excuse
    exercise exhibit experience export face fall farm favour feed fight filter find fine fire
    fish fit fix flag flash float flood flow focus fold force forecast fork form format frame
    fuel function fund garden glue grade grant graze group guard guess guide halt hand harm head
    heat help highlight hike hint hit hold hope host hug import increase index influence
    interview invoice issue itch joke jump kick label lack lag land last launch lay lead lease
    lecture licence license lie lift like limit link list litter load lobby lock log look love
    lower mail map march mark mask master match matter mature may mean measure mess mind mix
    model monitor mount must nail name narrow need nest number object offer open order page park
    pass patch pause phase phone pick pilot pin ping pitch plan plant play plug polish poll pour
    power practice praise present press print process produce promise pull purchase push query
    question queue race rain raise rank rate read record refund release remark rent repair reply
    report request research reserve reset resort rest return review reward ride ring rise risk
    rock roll route rule run rust sail sample sand scan scare schedule scrap scratch screen seal
    search second secure seed sense set shake shape share shelter shift shine ship shop shot
    show sign signal sink sketch ski sleep slice slide slip slow smash smell smoke snow soak
    sort sound span spare spark spell spill spin split sponsor spot spray spread sprint squash
    squeeze stack staff stage stain stall stamp stand start state steam step stick stir stock
    stop store strain stress strike strip struggle study supply support surprise swallow swap
    sweat sweep swim swing switch tackle tag talk tap tape target taste tear telephone test
    third tick tie tilt time touch tour tow trace track trade train transfer transport trap
    travel treat trigger triple tune turn twist type update upgrade upload use value video view
    visit voice void volunteer vote wait walk warm wash waste watch water welcome whisper will
    win wish witness work worry wrap wreck yield zip
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

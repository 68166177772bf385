"""Irregular English verbs and the stems of words."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Final

import snowballstemmer

from .stop_words import STOP_WORDS

# Base, past, and the participle where it differs from the past.
_TABLE = """
be:was,were:been bear:bore:borne beat:beat:beaten become:became:become begin:began:begun bend:bent
bet:bet bind:bound bite:bit:bitten bleed:bled blow:blew:blown break:broke:broken breed:bred
bring:brought build:built burst:burst buy:bought cast:cast catch:caught choose:chose:chosen
cling:clung come:came:come cost:cost creep:crept cut:cut deal:dealt dig:dug do:did:done
draw:drew:drawn drink:drank:drunk drive:drove:driven eat:ate:eaten fall:fell:fallen feed:fed
feel:felt fight:fought find:found flee:fled fling:flung fly:flew:flown forbid:forbade:forbidden
forget:forgot:forgotten forgive:forgave:forgiven freeze:froze:frozen get:got:gotten
give:gave:given go:went:gone grind:ground grow:grew:grown hang:hung have:had hear:heard
hide:hid:hidden hit:hit hold:held hurt:hurt keep:kept kneel:knelt know:knew:known lay:laid lead:led
leave:left lend:lent let:let lie:lay:lain lose:lost make:made mean:meant meet:met
oversee:oversaw:overseen overcome:overcame:overcome pay:paid put:put quit:quit read:read
rebuild:rebuilt redo:redid:redone resell:resold rewrite:rewrote:rewritten ride:rode:ridden
ring:rang:rung rise:rose:risen run:ran:run say:said see:saw:seen seek:sought sell:sold send:sent
set:set sew:sewed:sewn shake:shook:shaken shine:shone shoot:shot show:showed:shown
shrink:shrank:shrunk shut:shut sing:sang:sung sink:sank:sunk sit:sat sleep:slept slide:slid
speak:spoke:spoken spend:spent spin:spun split:split spread:spread spring:sprang:sprung stand:stood
steal:stole:stolen stick:stuck sting:stung strike:struck strive:strove:striven swear:swore:sworn
sweep:swept swim:swam:swum swing:swung take:took:taken teach:taught tear:tore:torn tell:told
think:thought throw:threw:thrown undergo:underwent:undergone understand:understood
undertake:undertook:undertaken undo:undid:undone upset:upset wake:woke:woken wear:wore:worn
weave:wove:woven weep:wept win:won wind:wound withdraw:withdrew:withdrawn write:wrote:written
"""
# Longer words are not English, and stemming takes time in proportion to the length.
_LONGEST_STEMMED: Final = 40
_STEMMER: Final = snowballstemmer.stemmer("english")
# It keeps the word at hand in itself: two threads would mix theirs.
_STEMMING: Final = Lock()


def _read_table() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for row in _TABLE.split():
        base, *forms = row.split(":")
        table[base] = tuple(dict.fromkeys(form for each in forms for form in each.split(",")))
    return table


IRREGULAR_FORMS: Final = _read_table()
"""The past forms and participles of each irregular verb, by its base."""

BASES: Final = {form: base for base, forms in IRREGULAR_FORMS.items() for form in forms}
"""The base of each irregular past form and participle."""

PAST_FORMS: Final = frozenset(
    form for base, forms in IRREGULAR_FORMS.items() for form in forms if form != base
)
"""Irregular forms that are not also the base: "went", not "put"."""


def base_form(word: str) -> str:
    """The base of an irregular verb's form ("went" gives "go"); any other word unchanged."""
    return BASES.get(word, word)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case word by Snowball's English rules, irregular forms by their base."""
    if len(word) > _LONGEST_STEMMED:
        return word
    with _STEMMING:
        found: str = _STEMMER.stemWord(base_form(word))
    return found


def other_forms(word: str) -> tuple[str, ...]:
    """The other forms of an irregular verb ("buy" for "bought"), none for other words.

    Forms that a stemmer leads to the same stem are left out, as are verbs that say little.
    """
    base = base_form(word)
    forms = (base, *IRREGULAR_FORMS.get(base, ()))
    if len(forms) == 1 or not STOP_WORDS.isdisjoint(forms):
        return ()
    found = dict.fromkeys(
        form
        for form in forms
        if not form.startswith(word) and not (form != base and word.startswith(form))
    )
    return tuple(found)

"""What kind of doing a clause tells of, by its first verb."""

from __future__ import annotations

from .verbs import AMBIGUOUS, AUXILIARIES, BASES, GERUNDS, MODALS, PAST_BASES, THIRD
from .words import DETERMINERS, PREPOSITIONS, word_set

_KINDS = {
    "be": word_set("be"),
    "have": word_set("have own keep hold contain include possess carry consist belong"),
    "want": word_set("want like love prefer hate dislike enjoy need wish adore fancy mind loathe"),
    "say": word_set(
        "say tell ask write read mention claim call answer reply explain report announce talk "
        "speak insist swear promise joke complain suggest recommend warn note"
    ),
    "think": word_set(
        "think know believe guess hope suppose wonder feel remember forget imagine doubt suspect "
        "assume mean understand realise realize expect reckon seem look sound appear"
    ),
    "move": word_set(
        "go come leave arrive fly drive travel walk run return move cycle sail ride climb enter "
        "commute relocate fall land"
    ),
    "change": word_set(
        "change switch replace rename swap cancel postpone move reschedule drop start stop begin "
        "end launch open close finish become turn join quit retire expire renew migrate raise "
        "lower cut increase reduce extend shift delay release ship merge split upgrade update "
        "resign transfer cease"
    ),
    "make": word_set(
        "make build write create cook bake paint design plan prepare draw produce print sew knit "
        "compose grow plant install configure set deploy test"
    ),
    "trade": word_set(
        "buy sell pay cost order send get receive give take lend borrow rent lease charge deliver "
        "earn spend save owe ship sign offer supply invoice book reserve"
    ),
    "work": word_set(
        "work lead manage teach study head handle cover maintain run supervise train coach serve "
        "operate organise organize look review approve own report look-after chair direct"
    ),
    "live": word_set("live stay reside sleep stand sit lie remain grow sleep share"),
    "meet": word_set("meet visit see attend host invite interview marry date celebrate"),
    "decide": word_set(
        "decide agree choose settle vote pick opt approve reject refuse accept commit elect "
        "appoint promote hire fire resolve"
    ),
    "break": word_set(
        "break fail crash lose die leak burst fall hurt injure burn freeze steal miss damage "
        "collapse jam snap crack flood spill trip bite ruin reject"
    ),
    "use": word_set("use apply rely depend require support allow accept mean require speak"),
    "mend": word_set(
        "fix repair solve restart help restore clean clear reset replace rerun reboot convert "
        "remove add put turn check wait open try pull push"
    ),
    "learn": word_set("learn find discover notice see hear check try measure count find"),
    "sense": word_set(
        "smell taste watch listen stare laugh cry yawn smile grin sing dance hum shiver sweat "
        "drink eat chew rain snow pour bark purr sneeze cough nap doze wake wait"
    ),
}
_KIND_OF: dict[str, str] = {}
for _kind, _members in _KINDS.items():
    for _member in sorted(_members):
        _KIND_OF.setdefault(_member, _kind)
_BE = word_set("am is are was were i'm it's he's she's we're they're that's there's you're isn't "
               "aren't wasn't weren't be been")  # fmt: skip
_HAVE = word_set("have has had haven't hasn't i've we've they've you've hadn't")
_HELP = AUXILIARIES | MODALS | word_set("i'll we'll he'll she'll they'll it'll i'd we'd he'd she'd")


def verb_of(*, words: list[str]) -> str:
    """The base of the verb that carries a clause, "" where none is seen."""
    helped = ""
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        if word in _BE or word.endswith(("'s", "'re", "'m")):
            helped = helped or "be"
            continue
        if word in _HAVE or word.endswith("'ve"):
            helped = helped or "have"
            continue
        if word in _HELP:
            continue
        if before in DETERMINERS or (before in PREPOSITIONS and before != "to"):
            continue
        base = THIRD.get(word) or PAST_BASES.get(word) or GERUNDS.get(word)
        if base is None and word in BASES:
            base = word
        if base is None:
            continue
        if word == base and base in AMBIGUOUS and index and not _may_follow(before):
            continue
        if helped and index > 4:
            return helped
        return base
    return helped


def _may_follow(before: str) -> bool:
    return before in {"i", "we", "you", "they", "to", "always", "never"} or before in _HELP


def kind_of(*, base: str) -> str:
    """The kind of a verb, "none" for no verb and "other" for one of no known kind."""
    return _KIND_OF.get(base, "other") if base else "none"

"""People who are called like a month: "April leads design", "reports to June"."""

from __future__ import annotations

from collections.abc import Sequence

from ...extraction.language.verbs import THIRD
from .tables import words
from .tokens import Token
from .verbs import is_past_form

_CALLED = words("jan april may june august")
POSTS = words(
    "lead leader head manager owner boss chief director contact editor author captain coach "
    "chair treasurer secretary reviewer approver assistant deputy successor mentor host teacher "
    "doctor nurse engineer developer designer analyst lawyer intern colleague friend neighbour "
    "sister brother mother father mum dad daughter son aunt uncle cousin niece nephew wife husband "
    "partner girlfriend boyfriend girl boy woman man person member user client customer"
)
_OWNED = POSTS | words(
    "birthday phone email address desk car dog cat flat house husband job team salary name parents "
    "children kids family favourite favorite hobby diet allergy laptop office number"
)
# What a month does, is and has.
_OF_MONTHS = words(
    "starts begins ends sees brings comes marks means falls saw brought came began ended passed "
    "month months year years season deadline launch release date day days week weeks weekend "
    "weekends holidays busy booked over early late free cold warm hot rainy dry wet sunny quiet "
    "best peak worst when target due possible planned full been seen quarter figures closed open "
    "time revenue sales weather"
)
_TIMES = words(
    "in on since until till during early late mid next last this every each before after through "
    "of around for between and or"
)
_MEETING = words("with ask asked asks told tell met meets joins replaced replaces succeeded hired")
# "My brother Jan"; nobody's month.
_RELATIVES = words(
    "brother sister mother father mum dad daughter son aunt uncle cousin niece nephew wife husband "
    "partner girlfriend boyfriend friend neighbour colleague boss grandma grandpa flatmate"
)
_DONE_BY = words(
    "led owned managed run maintained headed chaired handled coordinated edited taught"
)
_COMING_FROM = words("took taken take divorced separated heard borrowed inherited split learned")
_LEADING_TO = words("reports reported report handed passed married engaged talk talked spoke")


def tell_people_from_months(tokens: list[Token]) -> list[Token]:
    """The tokens, with each month that is somebody's name written so that it is none.

    A folded form with its capital is met nowhere else, and is equal in every statement.
    """
    if _CALLED.isdisjoint([token.lower for token in tokens]):
        return tokens
    return [
        token._replace(lower=token.text, stem=token.text) if _is_person(tokens, i) else token
        for i, token in enumerate(tokens)
    ]


def _is_person(tokens: Sequence[Token], i: int) -> bool:
    token = tokens[i]
    if not token.capital or token.lower not in _CALLED:
        return False
    before = [each.lower for each in tokens[max(0, i - 5) : i]]
    after = [each.lower for each in tokens[i + 1 : i + 6]]
    if any(c.isdigit() for each in (*before[-1:], *after[:1]) for c in each):
        return False
    if before and not tokens[i - 1].separator:
        owns = after[:1] == ["'s"] and not _OWNED.isdisjoint(after[1:2])
        return _is_met(before, after) or (owns and before[-1] not in _TIMES)
    return _is_told_of(after)


def _is_told_of(after: list[str]) -> bool:
    """Whether what a statement goes on with is said of people: "April prefers", "May is ill"."""
    if len(after) < 2:
        return False
    if after[0] in {"is", "was"} and not POSTS.isdisjoint(after):
        return True
    if not _OF_MONTHS.isdisjoint(after):
        return False
    if after[0] == "'s":
        return after[1] in _OWNED
    if after[0] in {"is", "was", "has"}:
        return True
    return after[0] in THIRD or is_past_form(after[0]) or after[0] in {"now", "no", "never"}


def _is_met(before: list[str], after: list[str]) -> bool:
    """Whether a month is named where only people are: "with June", "took over from Jan"."""
    last = before[-1]
    if last in _MEETING or last in _RELATIVES:
        return True
    if last == "from":
        return not _COMING_FROM.isdisjoint(before)
    if last == "by":
        return before[-2:-1] != [] and before[-2] in _DONE_BY
    if last == "to":
        return not _LEADING_TO.isdisjoint(before)
    is_last = not after or after[0] in {".", "!", ";", ","}
    told = last in {"is", "now"} and is_last
    return told and not POSTS.isdisjoint(before)

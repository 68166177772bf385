"""Payments that fall due every month: "the rent goes out on the 1st" names no single day."""

from __future__ import annotations

import re

_PAYMENT = (
    r"\b(?:rents?|salar(?:y|ies)|wages|paychecks?|payroll|mortgage|pensions?|allowance|pocket\smoney|"
    r"standing\sorders?|direct\sdebits?|child\s(?:support|benefit)|housing\sbenefit|alimony)"
)
# In the plain present: what rises, ends or changes on a day does so once.
_FALLS = (
    r"\s(?:always\s)?(?:goes?(?:\s(?:out|off))?|comes?(?:\s(?:in|out|off))?(?!\sthrough)|leaves?|arrives?|lands?|"
    r"gets?\s(?:paid|taken|debited)|(?:is|are)\s(?:paid|due|debited|taken|collected|charged|transferred|booked))"
)
_PAID = re.compile(
    rf"{_PAYMENT}{_FALLS}\b[^.;,]{{0,30}}$"
    # "I get paid on the 25th", "850 goes to the mortgage on the 1st"
    r"|\b(?:I|we|they|you|he|she|the\steam|[A-Z]\w+)\s(?:gets?|(?:is|are))\spaid\s$"
    rf"|\b\d[\d.,]*\s(?:\w+\s)?(?:goes?|comes?|leaves?)\s[^.;,]{{0,30}}?(?:{_PAYMENT}|\baccount)\b[^.;,]{{0,20}}$",
    re.IGNORECASE,
)
# "And 200 to the savings account on the 5th": the verb was said before.
_AND_MORE = re.compile(r"(?:,\sand|,|\sand)\s(?:the\s)?[\w.,]+(?:\s[\w'’-]+){0,5}\s$")
_ONCE = re.compile(
    r"\b(?:this\s(?:time|month|year|once)|next|last|first|new|one-off|from|final|extra|today|tomorrow|"
    r"because|(?:due|owing|thanks)\sto|instead|exceptionally|(?:by|until|till|before)\sthen|"
    r"bank\sholiday|early|earlier|late|later|already|delayed|postponed|deferred|brought\sforward)\b",
    re.IGNORECASE,
)
# "…, I've asked for a week more", "…, so we need": told of the day that comes.
_NOW = re.compile(
    r"(?:,|[–—-]|\b(?:so|and|but))\s(?:I|we|he|she|they|you|the\steam|[A-ZÀ-Þ]\w+)"
    r"(?:['’](?:ve|ll|m|re|d)\b|\s(?:have|has|need|needs|want|wants|must|should|am|will|can|cannot|can['’]t|"
    r"could|asked|told|do\snot|don['’]t|won['’]t)\b)"
)


def falls_due_monthly(*, match: re.Match[str]) -> bool:
    """Whether a bare day of the month ("on the 1st") is that of every month for a payment."""
    before = re.sub(r"\bon\s(?:the\s)?$", "", match.string[: match.start()])
    before = before if before.endswith(" ") or not before else f"{before} "
    if _ONCE.search(match.string) or _NOW.search(match.string, match.end()):
        return False
    if _PAID.search(before):
        return True
    earlier = re.search(r"\s(?:on\s)?the\s\d{1,2}(?:st|nd|rd|th)\b", before)
    return bool(
        earlier
        and _PAID.search(before[: earlier.start()] + " ")
        and _AND_MORE.fullmatch(before[earlier.end() :])
    )

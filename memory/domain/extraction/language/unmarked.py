"""Verbs whose past looks like their present: "Tom quit in April", "I put it on the market"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .verbs import AUXILIARIES, MODALS, THIRD, UNMARKED, is_past_form
from .words import DETERMINERS, MONTHS, PREPOSITIONS, WEEKDAYS, word_set, words_of

# Verbs without a past form of their own that tell of one moment: "I hurt my knee".
_SUDDEN = word_set("hurt hit quit burst upset")
_SINGULAR = word_set("he she it nobody everyone everybody someone somebody who which that")
_NO_SUBJECT = (
    word_set("to let help please always never not don't didn't doesn't can't cannot") | MODALS
)
# The third person is marked in the present, so that "the landlord let" can only be past.
_OBJECTS = DETERMINERS | word_set(
    "me him us them it you up out off down back aside in on at from into onto over for with"
    " myself himself herself ourselves themselves apart"
)
_LONG_AGO = re.compile(
    r"\b(?:yesterday|ago|last\s(?:night|week|month|year|spring|summer|autumn|fall|winter|\w+day)|earlier"
    r"|back\sin|(?:in|since)\s(?:19|20)\d\d"
    rf"|(?:in|on|at|for|since|of|early|late|mid)[\s-](?:the\s)?(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?)?"
    rf"(?:{'|'.join(sorted(MONTHS))})|on\s(?:{'|'.join(sorted(WEEKDAYS))}))\b",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:every|each|always|usually|often|never|normally|mostly|sometimes|tomorrow|next|will|once\sa"
    r"|twice\sa|\w+days)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[,;:.]|\b(?:and|but|because|so|when|while|after|before|since|although)\b"
)


def tells_of_past(*, text: str) -> bool | None:
    """Whether the first verb of the text is one of these in the past; None where it is none.

    None as well where nothing decides: "I read a lot", "we set rules".
    """
    clause = _CLAUSE_END.split(text, maxsplit=1)[0] if "," in text else text
    words = words_of(clause)
    for at, word in enumerate(words):
        if word in UNMARKED and at:
            return _is_past(words, at, text)
        if word in AUXILIARIES or word in MODALS or word in THIRD or is_past_form(word=word):
            return None
        if word.endswith(("'s", "'m", "'re", "'ve", "'ll", "'d", "n't")) and at == 0:
            return None
    return None


def _is_past(words: Sequence[str], at: int, text: str) -> bool | None:
    before, after = words[at - 1], words[at + 1] if at + 1 < len(words) else ""
    if before in _NO_SUBJECT or before in DETERMINERS:
        return None
    if before in {"i", "we", "you", "they"} or "and" in words[:at] or before.endswith("s"):
        if words[at] in _SUDDEN and before in {"i", "we"}:
            return True
        return True if _LONG_AGO.search(text) and not _HABIT.search(text) else None
    if before in _SINGULAR:
        return before not in {"who", "which", "that"} or None
    rest = words[at + 1 :]
    is_other = before in PREPOSITIONS or any(w in AUXILIARIES or w in MODALS for w in rest)
    if is_other or _HABIT.search(text):
        return None
    is_verb = not after or after in _OBJECTS or after.isdigit() or _LONG_AGO.search(text)
    return True if is_verb else None

"""Days that what was done points at: "I booked the dentist for June 3" tells of a day to come.

The verb is past and its day is not; so the day nearest to when it was said is meant.
"""

from __future__ import annotations

import re

_DAY_OF = r"(?:the\s(?:week|weekend|month|morning|evening|night)\sof\s)?(?:the\s)?$"
_WAYS = (
    # "booked it for", but not what lasted for so long
    r"\bfor\s",
    # "tickets for the show on", "invited us to their wedding on", "registered for the run on"
    r"\b(?:tickets?|seats?|invit(?:ed|ation)s?|appointments?|slots?|reservations?|bookings?|booked"
    r"|registered|signed\s(?:\w+\s)?up|enrolled|applied|accepted|asked\sfor|agreed|arranged"
    r"|planned|scheduled)\b[^.;,]{0,50}\s(?:for|to|into|onto|that|of|at|with|leave)\s"
    r"[^.;,]{1,50}\s(?:on|in|from|at|by|until)\s",
    r"\b(?:leave|holidays?|vacation|time\soff|sabbatical)\s(?:from|on|in|starting)\s",
    # ", starting on", ", picking it up on"
    r"[,–—]\s(?:and\s)?(?:\w+ly\s|then\s)?(?!includ|dur|be|accord|consider|regard)\w{2,}ing\b"
    r"(?:\s[^\s.;,]+){0,5}\s",
    r"\b(?:available|valid|effective|due|free|open|starting|beginning|commencing)\s(?:\w+\s){0,2}",
    # "they gave us until"
    r"\b(?:gave|given|granted|allowed|extended|prolonged|paid|booked|reserved|promised)\b"
    r"(?:\s[^\s.;,]+){0,5}?\s(?:until|till|through)\s",
    # "put the meeting on"
    r"\b(?:put|set|fixed|scheduled|moved|arranged|planned)\s(?:the|our|my|an?|his|her|their)\s"
    r"(?:\w+\s){1,3}(?:on|to)\s",
)
_MEANT = re.compile(rf"(?:{'|'.join(_WAYS)}){_DAY_OF}", re.IGNORECASE)
# What was attended, missed or lasted lies behind.
_OVER = re.compile(
    r"\b(?:was|were|had|went|attended|missed|lived|stayed|visited|been|worked|waited|since)\b",
    re.IGNORECASE,
)
_REACH = 140


def is_day_meant(*, before: str) -> bool:
    """Whether what stands before a date arranges something for it, in the past tense."""
    near = before[-_REACH:]
    found = _MEANT.search(near)
    return bool(found) and not _OVER.search(near)


# "It was June 13 before": a day that was meant once lies where the one in its place does.
_WAS_MEANT = re.compile(
    r"\s(?:was|were)\s(?:(?:originally|initially|first|planned|supposed\sto\sbe|scheduled|set|meant\sto\sbe)\s){0,2}"
    r"(?:(?P<cue>originally|initially|first)\s)?(?:on|for)?\s?(?:the\s)?$",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"\s?(?:before|originally|initially|at\sfirst|first|until\s(?:now|today|yesterday))[.,;!]*(?:$|\s)",
    re.IGNORECASE,
)


def was_meant(*, before: str, after: str) -> bool:
    """Whether the words around a date say that something was to be on it and is no more."""
    return bool(_WAS_MEANT.search(before)) and bool(_ONCE.match(after))

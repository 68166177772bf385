"""Questions for what held once and holds no longer: "What was the dog called before?"."""

from __future__ import annotations

import re

_TIME = r"(?:second|minute|hour|day|night|morning|evening|week|weekend|month|quarter|year|decade)s?"
# What happened is no state that something else took the place of.
_OCCASION = (
    rf"(?:{_TIME}|time|one|meeting|session|conversation|chat|call|talk|message|question|answer"
    r"|turn|step|page|chapter|episode|attempt|visit|trip|release|sprint)\b"
)
_STATE = (
    r"(?:name|title|address|number|phone|email|mail|job|employer|role|post|salary|price|cost|fee"
    r"|value|setting|default|limit|plan|owner|lead|manager|boss|landlord|tenant|supplier|vendor"
    r"|provider|version|deadline|date|location|place|home|flat|office|colou?r|size|password|port"
    r"|url|domain|host|logo|slogan|wording)s?\b"
)
_CHANGED = r"(?:changed?|renamed?|renaming|replaced?|replacement|switch(?:ed)?|swap(?:ped)?)\b"
# What is used to open a door is used now, and who is used to the noise is so today.
_USED_TO = re.compile(r"\bused\s+to\s+(?!the\b|it\b)\w", re.IGNORECASE)
_NOW = re.compile(
    r"(?:\b(?:is|are|was|were|be|been|gets?|got|getting)|['’](?:s|re|m))\s+"
    r"(?:(?!(?:that|who|which|where|what|i|you|he|she|we|they)\b)[\w'’-]+\s+){0,4}$",
    re.IGNORECASE,
)
_PAST = re.compile(
    rf"""
    \b(?:previously|formerly|originally|erstwhile)\b
    | \bback\s+then\b | \bin\s+the\s+past\b (?!\s+(?:[\w-]+\s+){{0,2}}{_TIME}\b)
    | \bdid(?:n['’]t)?\s+(?:[\w'’]+\s+){{1,4}}use\s+to\s+\w
    | \b(?:former|previous|prior|original)\s+(?!to\b|{_OCCASION})[a-z]
    | \b(?:old|earlier)\s+{_STATE}
    # "before" with nothing after it, but "the day before" and "ever before".
    | (?<!\bday\s)(?<!\bnight\s)(?<!\bmorning\s)(?<!\bevening\s)(?<!\bweek\s)(?<!\bweekend\s)
      (?<!\bmonth\s)(?<!\byear\s)(?<!\bever\s)(?<!\bnever\s)
      \bbefore (?:\s+(?:that|then|now|it))? \s* (?:[?!.,;:)"”]|$)
    | \bbefore\s+(?:it|they|this|that|he|she)\s+(?:was|were|got|had\s+been)\s+{_CHANGED}
    | \bbefore\s+(?:(?:the|its|their|our|my|his|her|this|that)\s+)?(?:name\s+)?{_CHANGED}
    # "What was the dog called before Biscuit?"
    | ^\W*what\s+(?:was|were)\b [^.?!]* \b(?:called|named|known\s+as)\s+before\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def asks_for_past(text: str) -> bool:
    """Whether a question asks for what was replaced; "before June" and "before the release" do not.

    It may be said of a question that needs no past, which costs room in an answer and no more.
    """
    return _PAST.search(text) is not None or any(
        not _NOW.search(text[: match.start()]) for match in _USED_TO.finditer(text)
    )

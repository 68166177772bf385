"""Questions for what held once and holds no longer: "What was the dog called before?"."""

from __future__ import annotations

import re

from memory.domain.text.stop_words import word_set

_TIME = r"(?:second|minute|hour|day|night|morning|evening|week|weekend|month|quarter|year|decade)s?"
# What happened is no state that something else took the place of.
_OCCASION = (
    rf"(?:{_TIME}|time|one|meeting|session|conversation|chat|call|talk|message|question|answer"
    r"|step|page|chapter|episode|attempt|visit|trip|release|sprint)\b"
)
_STATE = (
    r"(?:name|title|address|number|phone|email|job|employer|role|price|cost|fee|value|setting"
    r"|default|limit|plan|owner|lead|manager|boss|landlord|supplier|vendor|provider|version"
    r"|deadline|date|location|place|home|flat|office|colou?r|size|password|port|url|domain|host"
    r"|logo)s?\b"
)
_CHANGED = r"(?:the\s+change|changed|renamed|replaced|switched|swapped)\b"
_BE = word_set("is are was were be been s re m get gets got getting")
_CLAUSE_WORDS = word_set("that who which where what i you he she it we they")
_WORDS_BACK = 5
_LONGEST_BACK = 60
# What is used to open a door is used now, and who is used to the noise is so today.
_USED_TO = re.compile(r"\bused\s{1,4}to\s{1,4}(?!the\b|it\b)\w", re.IGNORECASE)
_PAST = re.compile(
    rf"""
    \b(?:previously|formerly|originally|erstwhile)\b
    | \bback\s{{1,4}}then\b
    | \bin\s{{1,4}}the\s{{1,4}}past\b (?!\s{{1,4}}(?:[\w-]{{1,20}}\s{{1,4}}){{0,2}}{_TIME}\b)
    | \bdid(?:n['’]t)?\s{{1,4}}(?:[\w'’]{{1,20}}\s{{1,4}}){{1,4}}use\s{{1,4}}to\s
    | \b(?:former|previous|prior|original)\s{{1,4}}(?!to\b|{_OCCASION})[a-z]
    | \b(?:old|earlier)\s{{1,4}}{_STATE}
    # "before" with nothing after it, but not "the day before" and "ever before".
    | (?<!\bday\s)(?<!\bnight\s)(?<!\bmorning\s)(?<!\bevening\s)(?<!\bweek\s)(?<!\bweekend\s)
      (?<!\bmonth\s)(?<!\byear\s)(?<!\bever\s)(?<!\bnever\s)
      \bbefore(?:\s{{1,4}}(?:that|then|now|it))?\s{{0,4}}(?:[?!.,;:)"”]|$)
    | \bbefore\s{{1,4}}(?:(?:it|they|he|she)\s{{1,4}}(?:was|were|got)\s{{1,4}})?{_CHANGED}
    # "What was the dog called before Biscuit?"
    | ^\W{{0,4}}what\s{{1,4}}(?:was|were)\b[^.?!]{{0,80}}
      \b(?:called|named|known\s{{1,4}}as)\s{{1,4}}before\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def asks_for_past(text: str) -> bool:
    """Whether a question asks for what was replaced; "before June" and "before the release" do not.

    It may be said of a question that needs no past, which costs room in an answer and no more.
    """
    return _PAST.search(text) is not None or any(
        not _is_of_now(text[max(0, match.start() - _LONGEST_BACK) : match.start()])
        for match in _USED_TO.finditer(text)
    )


def _is_of_now(before: str) -> bool:
    """Whether "used to" behind these words says what something is for or somebody knows well."""
    words = [word for word in re.split(r"[\s'’]+", before.lower()) if word][-_WORDS_BACK:]
    be = max((place for place, word in enumerate(words) if word in _BE), default=None)
    return be is not None and _CLAUSE_WORDS.isdisjoint(words[be + 1 :])

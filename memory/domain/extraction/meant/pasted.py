"""Text of others that stands in a message: handed over, forwarded, quoted, supposed, a script.

Such text is the task's material and nobody's statement, so nothing in it becomes a memory. What
the speaker says before and after it is heard.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto

from ..language.sentences import split_sentences
from .handing_over import (
    begins_letter,
    handed_over,
    is_about_it,
    is_own_again,
    points_at_text,
    signs_off,
)

_MAY_HOLD_ONE = re.compile(
    r":|^\s*>|\bdear\b|\bwhom\sit\b|\bth(?:is|ese)\b|\bfollow|\bbelow\b|['’]s\s|\bsuppos|\bimagine|\bassum"
    r"|\bsay\b|\bpretend|\bpicture\b|\bin\s(?:my|our)\s|\"\"\"|~~~",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|\"\"\".*?(?:\"\"\"|\Z)", re.DOTALL)
_FENCED = "\0"
_RULE = re.compile(r"\s{0,3}[-*_=~](?:\s?[-*_=~]){2,}\s*$")
_QUOTED = re.compile(r"\s{0,3}>")
_HEADER = re.compile(
    r"\s{0,3}\*{0,2}(?:from|to|cc|bcc|subject|date|sent|reply-to)\*{0,2}:\s?\S", re.IGNORECASE
)
_FORWARDED = re.compile(
    r"^[-\s>]*(?:begin\s)?(?:forwarded|original)\s(?:message|mail|e-?mail)\b|^on\s.{6,80}\swrote:\s*$",
    re.IGNORECASE,
)
# "Anna: I moved …", "[10:22] Anna: …", "12/05/26, 10:22 - Anna: …"
_TURN = re.compile(
    r"\s{0,3}(?:\[?[\d/.:,\s-]{4,24}(?:[ap]m)?\]?\s?[-–]?\s?)?\*{0,2}(?P<who>[A-ZÀ-Þ][\w’'-]*(?:\s[A-ZÀ-Þ][\w’'-]*)?)\*{0,2}:\s"
    r"(?=.*\b(?:I|[Mm]y|[Yy]ou|me|[Ww]e)\b)"
)
# "Q: Where do you live? A: I live in Quebec."
_OF_SURVEY = re.compile(r"(?:Q|A|Question|Answer)\d?\s?[:.]\s\S")
# "Suppose I had two kids. I earn …": what is supposed goes on until something is asked.
_SUPPOSES = re.compile(
    r"^(?:(?:so|ok|okay|now|and|as\san\sexample|for\sexample|for\sinstance|e\.g\.|hypothetically)[\s,:]+){0,3}"
    r"(?:let['’]s\s(?:say(?!\s(?:good|hi\b|hello|thank|yes|no\b|sorry))|suppose|assume|imagine|pretend)\b|say\s(?:that\s)?(?:i|my|we|our)\b|suppos(?:e|ing)\b(?!\s(?:so|not)\b)"
    r"|imagine\b(?!,|!|\s(?:my|our|the)\s(?:surprise|shock|delight|horror|joy|relief|disappointment))"
    r"|assum(?:e|ing)\s(?:that\s)?(?:i|my|we|our)\b|picture\sthis"
    r"|in\s(?:my|our)\s(?:novel|(?:short\s)?story|screenplay|dream|fantasy|fan-?fic\w*|campaign),?\s(?:i|my|we|you)\b|pretend\s(?:that\s)?(?:i|we|my)\b)",
    re.IGNORECASE,
)
_IN_TRUTH = re.compile(
    r"\b(?:in\sreality|in\sreal\slife|irl|actually|really|by\sthe\sway|btw|for\sreal|seriously)\b",
    re.IGNORECASE,
)
_OPENING = {'"': '"', "“": "”", "„": "“”", "«": "»"}
_NAME_WORDS = 4


class _Part(Enum):
    OWN = auto()
    POINTED_AT = auto()
    HANDED_OVER = auto()
    LETTER = auto()
    SUPPOSED = auto()


def own_words(*, text: str) -> str:
    """The text of one message without what others wrote or what is only supposed in it."""
    if not _MAY_HOLD_ONE.search(text):
        return text
    lines = _FENCE.sub(f"\n{_FENCED}\n", text).splitlines()
    return "\n".join(_Reader(lines).own_lines())


class _Reader:
    """Reads one message line by line; holds whose words it is in."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        turns = {at: found["who"] for at, line in enumerate(lines) if (found := _TURN.match(line))}
        self._script = set(turns) if len(set(turns.values())) > 1 else set()
        self._part = _Part.OWN
        self._closes_with = ""
        self._began = -1
        self._rules = 0

    def own_lines(self) -> list[str]:
        kept: list[str] = []
        fresh = True
        skip_name = False
        for at, line in enumerate(self._lines):
            if not line.strip():
                kept.append("")
                fresh, skip_name = True, False
                continue
            if skip_name and len(line.split()) <= _NAME_WORDS:
                skip_name = False
                continue
            if line == _FENCED or _RULE.match(line):
                fresh = True
                self._end_block(is_fence=line == _FENCED)
                continue
            if self._is_material(at, line):
                continue
            if self._part in (_Part.LETTER, _Part.HANDED_OVER) and signs_off(line=line.strip()):
                self._part, skip_name, fresh = _Part.OWN, True, True
                continue
            kept.append(self._own_part(at, line, fresh))
            fresh = False
        return kept

    def _end_block(self, *, is_fence: bool) -> None:
        """What stands between two rules or in a fence was the text that was handed over."""
        self._rules += 1
        if self._part is not _Part.OWN and (is_fence or self._rules > 1):
            self._part, self._rules = _Part.OWN, 0

    def _is_material(self, at: int, line: str) -> bool:
        """Whether a line shows by itself that another wrote it."""
        if _QUOTED.match(line) or at in self._script:
            self._part = _Part.OWN if self._part is _Part.POINTED_AT else self._part
            return True
        beside = (*self._lines[at + 1 : at + 2], *self._lines[max(0, at - 1) : at])
        headed = _HEADER.match(line) and any(_HEADER.match(other) for other in beside)
        if headed or _FORWARDED.match(line):
            self._enter(_Part.LETTER, at)
            return True
        return False

    def _enter(self, part: _Part, at: int) -> None:
        self._part, self._began, self._rules = part, at, 0

    def _own_part(self, at: int, line: str, fresh: bool) -> str:
        """What of a line is the speaker's own; the line itself where all of it is."""
        sentences = split_sentences(line)
        kept = [self._own_sentence(at, each, fresh and not n) for n, each in enumerate(sentences)]
        return line if kept == sentences else "\n".join(each for each in kept if each)

    def _own_sentence(self, at: int, sentence: str, fresh: bool) -> str:
        if self._closes_with:
            if any(mark in sentence for mark in self._closes_with):
                self._part, self._closes_with = _Part.OWN, ""
            return ""
        if self._part is not _Part.OWN and not self._is_over(at, sentence, fresh):
            return ""
        if _OF_SURVEY.match(sentence):
            return ""
        if begins_letter(sentence=sentence):
            self._enter(_Part.LETTER, at)
            return ""
        if _SUPPOSES.match(sentence):
            if not sentence.endswith("?"):
                self._enter(_Part.SUPPOSED, at)
            return ""
        end = handed_over(sentence=sentence)
        if end is not None:
            self._hand_over(at, sentence[end:].strip())
            return sentence[:end]
        if points_at_text(sentence=sentence):
            self._enter(_Part.POINTED_AT, at)
            return sentence if sentence.endswith("?") else ""
        return sentence

    def _hand_over(self, at: int, rest: str) -> None:
        """A quotation is all of the text that is handed over; else it is what follows."""
        self._enter(_Part.HANDED_OVER, at)
        closing = _OPENING.get(rest[:1], "")
        if closing and any(mark in rest[1:] for mark in closing):
            self._part = _Part.OWN
        elif closing:
            self._closes_with = closing

    def _is_over(self, at: int, sentence: str, fresh: bool) -> bool:
        """Whether the speaker speaks again with a sentence; the part is left where so."""
        if self._part is _Part.SUPPOSED:
            over = bool(_IN_TRUTH.search(sentence))
            self._part = _Part.OWN if over or sentence.endswith("?") else self._part
            return over
        if self._part is _Part.POINTED_AT:
            elsewhere = is_about_it(sentence=sentence) or is_own_again(
                sentence=sentence, fresh=False
            )
            self._part = _Part.OWN if elsewhere else _Part.HANDED_OVER
            return elsewhere
        # A letter of several lines may ask things as well.
        inside = self._part is _Part.LETTER and at != self._began and not fresh
        if inside or not is_own_again(
            sentence=sentence, fresh=fresh and self._part is _Part.HANDED_OVER
        ):
            return False
        self._part = _Part.OWN
        return True

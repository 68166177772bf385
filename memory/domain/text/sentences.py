"""Splits text into sentences, lines and list items that remember where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .stop_words import word_set

# Possessive quantifiers and look-behinds keep each pattern at one pass over the text.
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKER = re.compile(r"[ \t]{0,12}(?:[-*•–+]|\d{1,3}[.)])[ \t]+")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]{0,3}(?=\s|$)")
_EMOTICON = re.compile(r"\s[:;][-'’]?[()DPp|]{1,3}(?=\s|$)")
_LAST_WORD = re.compile(r"\S+$")
_LONGEST_WORD = 24
# Such a word goes on after its full stop.
_ABBREVIATIONS = word_set(
    """
    mr mrs ms dr prof st vs e.g i.e eg ie approx nr dept fig est ca cf al resp incl excl tel ext
    min max jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
    """
)
# Such a word ends the sentence unless a lower-case word follows.
_CLOSING = word_set("etc a.m p.m u.s u.k inc ltd co jr sr am pm")
_SUBJECTS = word_set("he she they we i you it my our his her the that this")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence from `start` up to, not including, `end`; `line` counts the lines from 0."""

    text: str
    start: int
    end: int
    line: int
    is_item: bool


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order, without list markers; fenced code is left out.

    Every line ends a sentence. Abbreviations, decimals, versions and web addresses do not.
    """
    plain = _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    sentences: list[Sentence] = []
    start = 0
    for number, line in enumerate(plain.split("\n")):
        marker = _MARKER.match(line)
        begin = marker.end() if marker else 0
        for first, last in _split_line(line, begin):
            found = Sentence(
                text=line[first:last],
                start=start + first,
                end=start + last,
                line=number,
                is_item=marker is not None,
            )
            sentences.append(found)
        start += len(line) + 1
    return sentences


def _split_line(line: str, begin: int) -> list[tuple[int, int]]:
    ends = [
        match.end()
        for match in _END.finditer(line, begin)
        if match.end() == len(line) or _ends_sentence(line, begin, match)
    ]
    ends += [match.end() for match in _EMOTICON.finditer(line, begin)]
    parts: list[tuple[int, int]] = []
    for end in (*sorted(ends), len(line)):
        part = line[begin:end]
        stripped = part.strip()
        if parts and not any(char.isalnum() for char in stripped):
            # A smiley or a stray mark belongs to the sentence before it.
            parts[-1] = (parts[-1][0], begin + len(part.rstrip()))
        elif stripped:
            first = begin + len(part) - len(part.lstrip())
            parts.append((first, first + len(stripped)))
        begin = end
    return parts


def _ends_sentence(line: str, begin: int, match: re.Match[str]) -> bool:
    """Whether the marks of a match end a sentence, by the words on both sides of them."""
    mark = match[0]
    after = line[match.end() : match.end() + _LONGEST_WORD].split(maxsplit=1)
    following = after[0] if after else ""
    is_lower = following[:1].islower()
    if mark[0] in "!?":
        # A quotation can end in such a mark inside a sentence.
        return not (is_lower and mark[-1] not in "!?")
    if mark[0] == "…" or mark.startswith(".."):
        return not is_lower
    found = _LAST_WORD.search(line[max(begin, match.start() - _LONGEST_WORD) : match.start()])
    word = found[0].lower().lstrip("(\"'“") if found else ""
    if word in _CLOSING:
        return not is_lower
    if word == "no":
        return not following[:1].isdigit()
    is_subject = following.lower().rstrip("'’") in _SUBJECTS
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i"):
        # "on 3 Jan. She left", "in group B. The rest": such a word seldom follows an abbreviation.
        return is_subject and (len(word) == 1 or word[:3] in {"jan", "feb", "dec", "nov", "oct"})
    # "12. Stock" is a numbered heading.
    return not (word.isdigit() and len(word) <= 3 and match.start() - len(word) == begin)

"""Text into sentences, surviving abbreviations, decimals, versions, URLs, lists and code."""

from __future__ import annotations

import re

from .words import word_set

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_EMOTICON = re.compile(r"(?:(?<=[.!?])|(?<=\w))\s[:;][-'’]?[()DPp|]+(?=\s|$)")
_BULLET = re.compile(r"^\s{0,12}(?:[-*•–]|\d{1,3}[.)])\s+")
_DASHED = re.compile(r"^\s{0,12}(?:[-*•–]|[1-9][.)])\s+")
_NUMBERED = re.compile(r"^\s{0,12}\d{1,3}[.)]\s")
_END = re.compile(r"[.!?…]+[\"'”’)\]]{0,3}(?=\s|$)")
_NEXT_LOWER = re.compile(r"\s+[a-z]")
_LAST_WORD = re.compile(r"(\S{1,24})$")
_ABBREVIATIONS = word_set(
    """
    mr mrs ms dr prof st vs e.g i.e eg ie approx no nr inc ltd co jr sr dept fig est ca cf al
    resp incl excl tel ext min max jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed
    thu fri sat sun
    """
)
# Abbreviations that may also close a sentence: only a lower-case word after them continues it.
_CLOSING_ABBREVIATIONS = word_set("etc a.m p.m u.s u.k inc ltd co am pm")
_UNITS = word_set("ms pm am a.m p.m min max sec cm mm km kg ca no")
_NUMBER_BEFORE = re.compile(r"\d\s?[a-z.]{1,4}$")
_CALENDAR = word_set("jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun")
_NEXT_SUBJECT = re.compile(r"\s+(?:he|she|they|we|i|you|it|my|our|his|her)\b")
_NEXT_CLAUSE = re.compile(r"\s+(?:He|She|They|We|I|You|It|My|Our|His|Her|The|That|This)['’\s]")
_MAX_LIST = 260


def split_sentences(text: str) -> list[str]:
    """The sentences of a text in order, without list markers; fenced code is left out.

    Lines end sentences. A line that ends in a colon is joined with the list below it.
    """
    sentences: list[str] = []
    for line in _joined_lists(_EMOTICON.sub(".", _FENCE.sub("\n", text))):
        sentences.extend(_split_line(line))
    return sentences


def _joined_lists(text: str) -> list[str]:
    lines: list[str] = []
    heading = ""
    items: list[str] = []

    def flush() -> None:
        nonlocal heading
        if heading and items:
            joined = f"{heading} {', '.join(items)}."
            if len(joined) <= _MAX_LIST:
                lines.append(joined)
            else:
                lines.extend(f"{heading} {item}" for item in items)
        elif heading:
            lines.append(heading)
        else:
            lines.extend(items)
        heading = ""
        items.clear()

    rows = text.splitlines()
    # "180. The balcony is closed" answers a question; a list has more than one number.
    marker = _BULLET if sum(_NUMBERED.match(row) is not None for row in rows) > 1 else _DASHED
    for raw in rows:
        line = raw.strip()
        if not line:
            continue
        bullet = marker.match(raw)
        if bullet and heading:
            items.append(raw[bullet.end() :].strip().rstrip(".;,"))
            continue
        flush()
        if line.endswith(":"):
            heading = line
        else:
            lines.append(raw[bullet.end() :].strip() if bullet else line)
    flush()
    return lines


def _split_line(line: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for match in _END.finditer(line):
        if match.end() < len(line) and not _is_boundary(line, start, match):
            continue
        part = line[start : match.end()].strip()
        if part:
            parts.append(part)
        start = match.end()
    rest = line[start:].strip()
    if rest:
        parts.append(rest)
    return parts


def _is_boundary(line: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group()
    follows_lower = _NEXT_LOWER.match(line, match.end()) is not None
    if mark[0] in "!?":
        # `translate "Where is it?" to French` goes on after the quotation mark.
        return not (follows_lower and len(mark.rstrip("\"'”’)]")) < len(mark))
    if mark.startswith("...") or mark[0] == "…":
        return not follows_lower
    before = _LAST_WORD.search(line[max(start, match.start() - 24) : match.start()])
    word = before.group(1).lower().lstrip("(\"'“") if before else ""
    if word in _UNITS and _NUMBER_BEFORE.search(line[: match.start()]) and line[:1].islower():
        # "p99 under 300 ms. next time …": who writes no capitals begins sentences without them.
        return True
    if word in _CLOSING_ABBREVIATIONS:
        return not follows_lower
    if word in {"no", "nr"}:
        return not re.match(r"\s+\d", line[match.end() :])
    if word in _CALENDAR and _NEXT_SUBJECT.match(line, match.end()):
        return True
    if len(word) == 1 and _NEXT_CLAUSE.match(line, match.end()):
        return True
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i"):
        return False
    return not (word.isdigit() and start == match.start() - len(word) and len(word) <= 3)

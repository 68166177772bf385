"""Separates what a query asks from the material it comes with: code, quotations, pasted text."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Of a very long query only the two ends are read: the request stands in one of them.
_HEAD_CHARS, _TAIL_CHARS = 3_000, 1_500
_LONG_QUOTATION_WORDS = 6

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r'"([^"]*)"|“([^“”]*)”|«([^«»]*)»|„([^„“”]*)[“”]')
_WORD = re.compile(r"[^\W_]+(?:[-'’/][^\W_]+)*")
_CODE = re.compile(
    r"\b[A-Za-z_]\w{0,60}\([^()]{0,200}\)|[{};]|[=!<>]=|=>|->|::|\b\w{1,60}_\w+\b|</?\w+>|\$\w+|"
    r"\b(?:SELECT|FROM|WHERE|INSERT|UPDATE|JOIN|def|return|import|const|let|var|elif|printf?)\b"
)
_STATEMENT = re.compile(
    r"\w\([^()]{0,200}\)|[{};]|[=!<>]=|=>|->|\s[+*-]?=\s|"
    r"\b(?:SELECT|FROM|WHERE|INSERT|UPDATE|def|return|import|const|let|var|while|for \w+ in)\b"
)
_MATHS = re.compile(r"[∑∫√∞≤≥≠±∀∃∈∂^≈∇⊂→]|\b[a-z]\s?=\s?[-\d(]|\bO\(|\d\s?[*/+]\s?\(?\d")
_HANDED_OVER = re.compile(r"\b(?:this|these|following|below)\b", re.IGNORECASE)
_INSTEAD = re.compile(
    r"(?<!don't )(?<!not )\b(?:for now[,:]?|just (?:tell me|say|answer|give me)[,:]?|"
    r"all i (?:need|want)(?: to know)? is|, only (?:the|tell|say))\s",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"\b(?:no need to|(?:do not|don't) (?:need|want|explain|analy[sz]e|bother)|not asking for|"
    r"without explaining|(?:explain|analy[sz]e|design|prove) nothing|prove me wrong)\b[^,.;:!?]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked (`text`, and its `words` in lower case), and counts of what comes with it."""

    text: str
    words: tuple[str, ...]
    material_words: int
    code_marks: int
    maths_marks: int


def read_request(query: str) -> Request:
    """The request of `query` without fenced code, long quotations and text after a colon."""
    text = query
    if len(text) > _HEAD_CHARS + _TAIL_CHARS:
        text = f"{text[:_HEAD_CHARS]}\n{text[-_TAIL_CHARS:]}"
    asked = _QUOTED.sub(_without_long_quotation, _FENCE.sub(" ", text))
    asked = _DECLINED.sub(" ", _after_instead(_without_material(asked))).replace("’", "'")
    return Request(
        text=asked,
        words=tuple(word.lower() for word in _WORD.findall(asked)),
        material_words=max(0, len(query.split()) - len(asked.split())),
        code_marks=len(_CODE.findall(text)),
        maths_marks=len(_MATHS.findall(text)),
    )


def _without_long_quotation(match: re.Match[str]) -> str:
    inner = match.group()[1:-1]
    return " " if len(inner.split()) >= _LONG_QUOTATION_WORDS else match.group()


def _without_material(text: str) -> str:
    """The text without what a colon hands over: paragraphs, code, or a line after "this list:"."""
    lines = text.splitlines()
    for place, line in enumerate(lines[:-1]):
        if line.rstrip().endswith(":"):
            if sum(len(row.split()) for row in lines[place + 1 :]) > 30:
                return "\n".join(lines[: place + 1])
            break
    head, colon, tail = text.partition(":")
    if _HANDED_OVER.search(head) and len(head.split()) <= 14 and len(tail.split()) >= 12:
        return head + colon
    asked = re.search(r"[?:]\s+", text)
    if asked and len(_STATEMENT.findall(text[asked.end() :])) >= 2:
        return text[: asked.end()]
    return text


def _after_instead(text: str) -> str:
    """What follows "for now" or "just tell me": the request that takes the place of the first."""
    turns = list(_INSTEAD.finditer(text))
    rest = text[turns[-1].end() :] if turns else ""
    return f"just {rest}" if len(rest.split()) >= 2 else text

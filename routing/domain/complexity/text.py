"""A query taken apart: what is asked, and the material that the asking is about."""

from __future__ import annotations

import re
from dataclasses import dataclass

# What is looked at of a very long query: its two ends, where the request stands.
_HEAD_CHARS, _TAIL_CHARS = 3_000, 1_500
_QUOTED_WORDS = 6

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r'"([^"]*)"|“([^”]*)”|«([^»]*)»|„([^“”]*)[“”]')
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?", re.UNICODE)
_TOKEN = re.compile(r"[^\W_]+(?:[-'’/][^\W_]+)*", re.UNICODE)
_CODE = re.compile(
    r"\b[A-Za-z_]\w{0,60}\([^)]{0,200}\)|[{};]|[=!<>]=|=>|->|::|\b\w+_\w+\b|\b\w+\.\w+\(|</?\w+>|\$\w+|"
    r"\b(?:SELECT|FROM|WHERE|INSERT|UPDATE|JOIN|def|return|import|const|let|var|elif|printf?)\b"
)
_STATEMENT = re.compile(
    r"\w\([^)]{0,200}\)|[{};]|[=!<>]=|=>|->|\s[+*-]?=\s|"
    r"\b(?:SELECT|FROM|WHERE|INSERT|UPDATE|def|return|import|const|let|var|while|for \w+ in)\b"
)
_ASKED_OF = re.compile(r"[?:]\s+")
_MATHS = re.compile(r"[∑∫√∞≤≥≠±∀∃∈∂^≈∇⊂→]|\b[a-z]\s?=\s?[-\d(]|\bO\(|\d\s?[*/+]\s?\(?\d")

_HANDED_OVER = re.compile(r"\b(?:this|these|following|below)\b", re.IGNORECASE)
_TURN = re.compile(
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
class QueryText:
    """`tokens` and `words` of the request itself, in lower case; counts of what it comes with."""

    request: str
    tokens: tuple[str, ...]
    cased: tuple[str, ...]
    material_words: int
    code_marks: int
    maths_marks: int


def take_apart(query: str) -> QueryText:
    """The request without pasted code, long quotations and blocks after a line that ends in `:`."""
    text = query
    if len(text) > _HEAD_CHARS + _TAIL_CHARS:
        text = f"{text[:_HEAD_CHARS]}\n{text[-_TAIL_CHARS:]}"
    code_marks = len(_CODE.findall(text))
    maths_marks = len(_MATHS.findall(text))
    request = _FENCE.sub(" ", text)
    request = _QUOTED.sub(_without_long, request)
    request = _without_block(request)
    request = _DECLINED.sub(" ", _after_turn(request))
    cased = tuple(_TOKEN.findall(request))
    material = max(0, len(query.split()) - len(request.split()))
    return QueryText(
        request=request,
        tokens=tuple(token.lower().replace("’", "'") for token in cased),
        cased=cased,
        material_words=material,
        code_marks=code_marks,
        maths_marks=maths_marks,
    )


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, compounds split at their hyphens."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def _without_long(match: re.Match[str]) -> str:
    inner = next(group for group in match.groups() if group is not None)
    return " " if len(inner.split()) >= _QUOTED_WORDS else match.group()


def _without_block(text: str) -> str:
    """The text without what a colon hands over: paragraphs, code, or a line after "this list:"."""
    lines = text.splitlines()
    for place, line in enumerate(lines[:-1]):
        if line.rstrip().endswith(":"):
            after = [row for row in lines[place + 1 :] if row.strip()]
            if sum(len(row.split()) for row in after) > 30:
                return "\n".join(lines[: place + 1])
    head, colon, tail = text.partition(":")
    if _HANDED_OVER.search(head) and len(head.split()) <= 14 and len(tail.split()) >= 12:
        return head + colon
    mark = _ASKED_OF.search(text)
    if mark and len(_STATEMENT.findall(text[mark.end() :])) >= 2:
        return text[: mark.end()]
    return text


def _after_turn(text: str) -> str:
    """What follows "for now" or "just tell me", where a query takes such a turn."""
    turns = list(_TURN.finditer(text))
    rest = text[turns[-1].end() :] if turns else ""
    return f"just {rest}" if len(rest.split()) >= 2 else text

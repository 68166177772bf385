"""How a contradiction reads to the person who settles it: what differs, and what was decided."""

from __future__ import annotations

from itertools import takewhile

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memory.domain.differences import text_parts
from memory.domain.judgements import A_WINS, B_WINS, BOTH_VALID, MERGED, told_decision
from memory.models import Contradiction
from teams.admin.display import actor_words

NAME_CHARS = 60

_OF_TWO = {
    A_WINS: "A kept",
    B_WINS: "B kept",
    BOTH_VALID: "both valid",
    MERGED: "merged",
}
_OF_ONE = {
    A_WINS: "kept",
    B_WINS: "deleted",
    BOTH_VALID: "kept",
    MERGED: "corrected",
}


def resolution_words(pair: Contradiction) -> str:
    """How it was settled, or that it is open."""
    if pair.resolved_at is None:
        return "open"
    return decision_words(resolution=pair.resolution, is_of_two=pair.memory_b_id is not None)


def decision_words(*, resolution: str, is_of_two: bool) -> str:
    """What a resolution decided, in a few words."""
    return (_OF_TWO if is_of_two else _OF_ONE)[resolution]


def settled_words(pair: Contradiction) -> str:
    """Of a settled one, that it is: by whom, when, how and why, as the service says it too."""
    if pair.resolved_at is None:
        return ""
    told = told_decision(
        resolution=pair.resolution,
        is_of_two=pair.memory_b_id is not None,
        by=actor_words(pair.resolved_by),
        at=pair.resolved_at,
        note=pair.resolution_note,
    )
    return f"It is settled already, {told}."


def aligned_excerpts(first: str, second: str, *, length: int) -> tuple[str, str]:
    """Both texts on one line of at most `length` characters each, their first difference in it."""
    one, other = " ".join(first.split()), " ".join(second.split())
    shared, start = _shared(one, other), 0
    if max(len(one), len(other)) > length and shared > length // 2:
        start = max(shared - length // 3, 0)
        blank = one.rfind(" ", start - length // 4, start)
        start = blank + 1 if blank >= 0 else start
    return _cut(one, start, length), _cut(other, start, length)


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))


def _cut(text: str, start: int, length: int) -> str:
    rest = f"…{text[start:]}" if start else text
    return rest if len(rest) <= length else f"{rest[: length - 1]}…"


def quotes(pair: Contradiction) -> tuple[str, str]:
    """Both sides in quotation marks, short enough for a message; the second empty for one."""
    second = pair.memory_b.content if pair.memory_b else ""
    one, other = aligned_excerpts(pair.memory_a.content, second, length=NAME_CHARS)
    return f"“{one}”", f"“{other}”" if second else ""


def name_of(pair: Contradiction) -> str:
    """The contradiction in a few words."""
    one, other = quotes(pair)
    return f"{one} against {other}" if other else f"{one}, reported as wrong"


def outcome_words(pair: Contradiction, *, resolution: str, one: str, other: str) -> str:
    """What becomes of both sides, quoted as `one` and `other`."""
    if pair.memory_b_id is None:
        return {
            B_WINS: f"{one} is wrong and is deleted.",
            MERGED: f"{one} is corrected.",
        }.get(resolution, f"{one} is right and is kept.")
    return {
        A_WINS: f"{one} is kept and replaces {other}.",
        B_WINS: f"{other} is kept and replaces {one}.",
        BOTH_VALID: f"{one} and {other} are both kept.",
        MERGED: f"{one} and {other} are merged into one text.",
    }[resolution]


def marked(text: str, other: str) -> SafeString:
    """The whole text, with the words marked that the other one does not have in this place."""
    parts = [part for part in text_parts(other, text) if part.kind != "gone"]
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<mark>{}</mark>", part.text) if part.kind == "new" else part.text,)
            for part in parts
        ),
    )

"""Contradictions in words, and how the admin settles one by the service that the API calls."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memory.domain.differences import text_parts
from memory.domain.judgements import A_WINS, B_WINS, BOTH_VALID, MERGED
from memory.models import Contradiction
from memory.understanding.tools import default_tools
from memory.writing.decisions.disputes import resolve_contradiction
from teams.admin.confirm import listed
from teams.errors import ConflictError
from teams.middleware import outside_staff_scope

from .memory_changes import tell_of_written, viewer_of

_NAME_CHARS = 60
_MOST_NAMED = 3
_OF_TWO = {A_WINS: "A kept", B_WINS: "B kept", BOTH_VALID: "both valid", MERGED: "merged"}
_OF_ONE = {A_WINS: "kept", B_WINS: "deleted", BOTH_VALID: "kept", MERGED: "corrected"}
_OUTCOME_OF_TWO = {
    A_WINS: "{0} is kept and replaces {1}.",
    B_WINS: "{1} is kept and replaces {0}.",
    BOTH_VALID: "{0} and {1} are both kept.",
    MERGED: "{0} and {1} are merged into one text.",
}
_OUTCOME_OF_ONE = {
    A_WINS: "{0} is right and is kept.",
    B_WINS: "{0} is wrong and is deleted.",
    BOTH_VALID: "{0} is right and is kept.",
    MERGED: "{0} is corrected.",
}


def with_sides(**which: object) -> QuerySet[Contradiction]:
    """Returns contradictions with both memories and their owners."""
    sides = ("memory_a", "memory_b")
    names = ("", "__agent", "__end_user", "__project")
    rows = Contradiction.objects.filter(**which)
    return rows.select_related("team", *(f"{side}{name}" for side in sides for name in names))


def open_beside(pair: Contradiction) -> list[Contradiction]:
    """Returns the other open contradictions of its sides, the newest first."""
    sides = [each for each in (pair.memory_a_id, pair.memory_b_id) if each]
    rows = Contradiction.objects.filter(
        Q(memory_a__in=sides) | Q(memory_b__in=sides), team_id=pair.team_id, resolved_at=None
    )
    return list(rows.exclude(pk=pair.pk).select_related("memory_a", "memory_b"))


def decision_words(pair: Contradiction, resolution: str) -> str:
    """Returns a decision about the contradiction in a few words."""
    return (_OF_TWO if pair.memory_b_id else _OF_ONE)[resolution]


def resolution_words(pair: Contradiction) -> str:
    """Returns its decision in a few words, or "open"."""
    return decision_words(pair, pair.resolution) if pair.resolved_at else "open"


def aligned_excerpts(first: str, second: str, *, length: int) -> tuple[str, str]:
    """Both texts on one line of at most `length` characters each, their first difference in it."""
    one, other = " ".join(first.split()), " ".join(second.split())
    differing = (n for n, both in enumerate(zip(one, other, strict=False)) if both[0] != both[1])
    shared, start = next(differing, min(len(one), len(other))), 0
    if max(len(one), len(other)) > length and shared > length // 2:
        start = max(shared - length // 3, 0)
        blank = one.rfind(" ", start - length // 4, start)
        start = blank + 1 if blank >= 0 else start
    return _cut(one, start, length), _cut(other, start, length)


def _cut(text: str, start: int, length: int) -> str:
    rest = f"…{text[start:]}" if start else text
    return rest if len(rest) <= length else f"{rest[: length - 1]}…"


def marked(text: str, other: str) -> SafeString:
    """Returns the whole text, with the words marked that the other one does not have there."""
    parts = [part for part in text_parts(other, text) if part.kind != "gone"]
    lines = (
        (format_html("<mark>{}</mark>", part.text) if part.kind == "new" else part.text,)
        for part in parts
    )
    return format_html_join("", "{}", lines)


def _quotes(pair: Contradiction) -> tuple[str, str]:
    """Both sides in quotation marks, short enough for a message; the second empty for one."""
    second = pair.memory_b.content if pair.memory_b else ""
    one, other = aligned_excerpts(pair.memory_a.content, second, length=_NAME_CHARS)
    return f"“{one}”", f"“{other}”" if second else ""


def name_of(pair: Contradiction) -> str:
    """Returns the contradiction in a few words."""
    one, other = _quotes(pair)
    return f"{one} against {other}" if other else f"{one}, reported as wrong"


def _outcome(pair: Contradiction, resolution: str) -> str:
    """Returns a sentence on what becomes of both sides, {0} and {1}."""
    return (_OUTCOME_OF_TWO if pair.memory_b_id else _OUTCOME_OF_ONE)[resolution]


def settle(
    request: HttpRequest,
    pair: Contradiction,
    reason: str,
    *,
    resolution: str,
    merged_content: str = "",
) -> str | None:
    """Settles it as the login; returns a sentence on what became of both sides.

    None where the same choice of several ended it already. Raises the service's errors.
    """
    beside = open_beside(pair)
    viewer = viewer_of(request, pair)
    try:
        # A merge embeds its text and may ask a model, for which no transaction should wait.
        with outside_staff_scope(request):
            settled = resolve_contradiction(
                viewer=viewer,
                contradiction_id=pair.pk,
                resolution=resolution,
                note=reason,
                merged_content=merged_content,
                tools=default_tools(),
                now=timezone.now(),
            )
    except ConflictError:
        # The message about another one of the same choice named it already.
        ended = Contradiction.objects.filter(pk=pair.pk, resolved_by=viewer.actor)
        if pair.resolved_at is None and ended.exists():
            return None
        raise
    if settled.merged is not None:
        tell_of_written(request, settled.merged)
    told = _outcome(pair, resolution).format(*_quotes(pair))
    return " ".join([told, *_rest(beside)])


def _rest(beside: list[Contradiction]) -> list[str]:
    """Returns those that ended as well, with their outcome, and those still open."""
    ids = [pair.pk for pair in beside]
    rows = Contradiction.objects.filter(pk__in=ids).select_related("memory_a", "memory_b")
    ended = [f"{name_of(row)} ({resolution_words(row)})" for row in rows if row.resolved_at]
    still_open = [name_of(row) for row in rows if not row.resolved_at]
    told = []
    for words, names in (("Closed with it", ended), ("Still open", still_open)):
        if names:
            said = listed(names, _MOST_NAMED)
            told.append(f"{words}: {said}" if said.endswith(".”") else f"{words}: {said}.")
    return told


def pin_words(pair: Contradiction) -> list[str]:
    """Returns a sentence for each decision that moves a pin to the other side."""
    a, b = pair.memory_a, pair.memory_b
    if b is None or a.is_pinned == b.is_pinned:
        return []
    pinned, other = ("A", "B") if a.is_pinned else ("B", "A")
    return [f"The pin of {pinned} moves to {other} if {other} is kept alone."]


def effect_words(pair: Contradiction, *, resolution: str) -> SafeString:
    """Returns a sentence on what becomes of both sides, with their whole texts."""
    a, b = pair.memory_a, pair.memory_b
    words = _outcome(pair, resolution).format("“{0}”", "“{1}”")
    if b is None:
        return format_html(words, a.content)
    told = format_html(words, marked(a.content, b.content), marked(b.content, a.content))
    winner, loser = (b, a) if resolution == B_WINS else (a, b)
    if resolution != BOTH_VALID and loser.is_pinned and not winner.is_pinned:
        moved = "The pin of the replaced side moves to the one that is kept."
        return format_html("{} {}", told, moved)
    return told

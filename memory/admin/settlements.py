"""How the admin settles a contradiction, by the service that the API calls, and which is next."""

from __future__ import annotations

from functools import partial

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memory.domain.audience import Viewer
from memory.domain.judgements import A_WINS, B_WINS, BOTH_VALID
from memory.models import Contradiction
from memory.understanding.tools import default_tools
from memory.writing.decisions.disputes import resolve_contradiction
from teams.admin.confirm import Change, listed
from teams.admin.display import page_of
from teams.errors import ConflictError
from teams.middleware import outside_staff_scope

from .changes import tell_of_written
from .sides import marked, name_of, outcome_words, quotes, resolution_words

_NAMES = [
    f"{side}{name}"
    for side in ("memory_a", "memory_b")
    for name in ("", "__agent", "__end_user", "__project")
]


def with_sides(**which: object) -> QuerySet[Contradiction]:
    """Contradictions with both memories and whom these are about."""
    return Contradiction.objects.filter(**which).select_related("team", *_NAMES)


def open_beside(pair: Contradiction) -> list[Contradiction]:
    """The other open contradictions of its sides, the newest first."""
    sides = [each for each in (pair.memory_a_id, pair.memory_b_id) if each]
    rows = Contradiction.objects.filter(
        Q(memory_a__in=sides) | Q(memory_b__in=sides), team_id=pair.team_id, resolved_at=None
    )
    return list(rows.exclude(pk=pair.pk).select_related("memory_a", "memory_b"))


def linked(pair: Contradiction) -> tuple[str, str]:
    """Its name and the address of its page."""
    return name_of(pair), page_of("memory_contradiction", pair.pk)


_MAX_NAMED = 3
_PIN_GOES_OVER = "The side that is replaced is pinned; its pin moves to the one that is kept."


def settle(
    request: HttpRequest,
    pair: Contradiction,
    reason: str,
    *,
    resolution: str,
    merged_content: str = "",
) -> str | None:
    """Settle it as the login, and say in a sentence what became of both sides.

    None where the same choice of several ended it already. Raises the service's errors.
    """
    beside = open_beside(pair)
    actor = f"staff:{request.user.get_username()}"
    try:
        # A merge embeds its text and may ask a model, for which no transaction should wait.
        with outside_staff_scope(request):
            settled = resolve_contradiction(
                viewer=Viewer(team_id=pair.team_id, actor=actor),
                contradiction_id=pair.pk,
                resolution=resolution,
                note=reason,
                merged_content=merged_content,
                tools=default_tools(),
                now=timezone.now(),
            )
    except ConflictError:
        # One that the same choice has ended already was told of beside the one that ended it.
        ended = Contradiction.objects.filter(pk=pair.pk, resolved_by=actor)
        if pair.resolved_at is None and ended.exists():
            return None
        raise
    if settled.merged is not None:
        tell_of_written(request, settled.merged)
    one, other = quotes(pair)
    told = outcome_words(pair, resolution=resolution, one=one, other=other)
    return " ".join([told, *_rest(beside)])


def _rest(beside: list[Contradiction]) -> list[str]:
    """Which of these ended as well and how, and which are open still."""
    ids = [pair.pk for pair in beside]
    rows = Contradiction.objects.filter(pk__in=ids).select_related("memory_a", "memory_b")
    ended, waiting = [], []
    for pair in rows:
        if pair.resolved_at is None:
            waiting.append(name_of(pair))
        else:
            ended.append(f"{name_of(pair)} ({resolution_words(pair)})")
    return [
        f"{words}: {_first_of(names)}"
        for words, names in (("Ended with it", ended), ("Still open", waiting))
        if names
    ]


def _first_of(names: list[str]) -> str:
    told = listed(names, _MAX_NAMED)
    return told if told.endswith(".”") else f"{told}."


def _change(explanation: str, resolution: str) -> Change[Contradiction]:
    return Change(
        verb="Settle",
        done="settled",
        explanation=explanation,
        apply=partial(settle, resolution=resolution),
        asks_reason=True,
        effect=partial(_effect, resolution=resolution),
        name=name_of,
    )


def _effect(pair: Contradiction, *, resolution: str) -> SafeString:
    """What becomes of both sides, with their whole texts."""
    a, b = pair.memory_a, pair.memory_b
    first, second = a.content, b.content if b else ""
    words = outcome_words(pair, resolution=resolution, one="“{0}”", other="“{1}”")
    lines: list[SafeString | str]
    sides = (marked(first, second), marked(second, first)) if b else (first, second)
    lines = [format_html(words, *sides)]
    if b is not None:
        winner, loser = (b, a) if resolution == B_WINS else (a, b)
        if resolution in (A_WINS, B_WINS) and loser.is_pinned and not winner.is_pinned:
            lines.append(_PIN_GOES_OVER)
    return format_html_join(" ", "{}", ((line,) for line in lines))


_STAYS = (
    "Agents no longer get what is replaced or deleted. Its text and history stay here, and “Undo”"
    " on the page of the contradiction takes all of it back."
)
KEEP_A = _change(f"A, the earlier side, is kept and replaces B. {_STAYS}", A_WINS)
KEEP_B = _change(
    f"B, the later side, is kept and replaces A; where somebody only said that A is wrong, A is"
    f" deleted. {_STAYS}",
    B_WINS,
)
KEEP_BOTH = _change("Both sides are valid: both are kept and no longer disputed.", BOTH_VALID)

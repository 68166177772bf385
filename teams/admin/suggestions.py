"""Text fields that suggest known values: time zones, people, agents, projects, categories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from teams.models import Agent, Conversation, EndUser, Project

from .theme import TextWidget

MOST = 200
# The conversations that are looked at, and the teams of a login that sees several.
_LATEST, _MOST_TEAMS = 1_000, 10
# By the field of a conversation: the model, what is typed of it, and its label.
_NAMED: dict[str, tuple[type[Any], str, str]] = {
    "end_user": (EndUser, "external_id", "display_name"),
    "agent": (Agent, "slug", "name"),
    "project": (Project, "slug", "name"),
}
# Each returns the categories of a team; call it in the team's scope.
CATEGORIES: list[Callable[[UUID], Sequence[str]]] = []


class SuggestWidget(TextWidget):
    """A text with suggestions, as pairs of a value and its label; other texts may be typed too."""

    template_name = "teams/widgets/suggest.html"

    def __init__(self, suggestions: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__({"autocomplete": "off"})
        self.suggestions = suggestions

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        # Any: Django's own signature
        context: dict[str, Any] = super().get_context(name, value, attrs)
        context["widget"]["attrs"]["list"] = f"suggestions-{name}"
        return {**context, "suggestions": self.suggestions}


def time_zones() -> list[tuple[str, str]]:
    """The names of all time zones."""
    return [(name, "") for name in sorted(available_timezones())]


def recently_used(of: str, *, team_ids: Sequence[UUID]) -> list[tuple[str, str]]:
    """The values and labels of at most `MOST` people, agents or projects, by the name `of`.

    Those of the latest conversations are first, the others follow in order; call it in the scope of
    the teams.
    """
    model, value, label = _NAMED[of]
    latest: dict[str | None, str] = {}
    others: dict[str | None, str] = {}
    for team_id in team_ids[:_MOST_TEAMS]:
        talks = Conversation.objects.filter(team_id=team_id).order_by("-created_at")
        latest |= dict(talks.values_list(f"{of}__{value}", f"{of}__{label}")[:_LATEST])
        rows = model._default_manager.filter(team_id=team_id).order_by(value)
        others |= dict(rows.values_list(value, label)[:MOST])
    # The keys of a union are in the order of the first of both.
    return [(name, words) for name, words in (latest | others).items() if name][:MOST]


def categories_of(*, team_id: UUID) -> list[str]:
    """At most `MOST` categories of a team; call it in the team's scope."""
    return [name for of in CATEGORIES for name in of(team_id)][:MOST]

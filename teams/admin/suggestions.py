"""Text fields that suggest known values: time zones, people, models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from teams.models import EndUser

from .theme import TextWidget

MOST_PEOPLE = 200


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


def people_of(*, team_id: UUID) -> list[tuple[str, str]]:
    """The external ids and names of the first people of a team; call it in the team's scope."""
    people = EndUser.objects.filter(team_id=team_id).order_by("external_id")[:MOST_PEOPLE]
    return [(person.external_id, person.display_name) for person in people]

"""The form of the page Time travel: which moment, and what of the memory is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import MAXYEAR, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from memory.models.memory import MEMORY_TYPES, SHOWN_STATUSES
from memory.selectors.memories import ALL, MemoryFilters
from teams.admin.theme import SelectWidget, TextWidget
from teams.models import Agent, Team

PAGE_NAME = "time_travel"
_FIELDS = ("agent", "user", "memory_type", "status", "text")
# A browser's clock, and seconds that were rounded up.
_NEARLY_NOW = timedelta(minutes=1)


def _choices(first: str, values: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [("", first), *((name, name.replace("_", " ")) for name, _ in values)]


class MomentWidget(TextWidget):
    """A date with a time to the second, in the zone of the page."""

    input_type = "datetime-local"


class TravelForm(forms.Form):
    """A moment of a team, and what its memory is narrowed to."""

    team = forms.ChoiceField(widget=SelectWidget)
    at = forms.DateTimeField(label="Moment", widget=MomentWidget(attrs={"step": "1"}))
    agent = forms.ChoiceField(required=False, widget=SelectWidget)
    user = forms.CharField(
        label="Person",
        required=False,
        max_length=200,
        widget=TextWidget(attrs={"placeholder": "External id"}),
    )
    memory_type = forms.ChoiceField(
        label="Type", required=False, choices=_choices("All", MEMORY_TYPES), widget=SelectWidget
    )
    status = forms.ChoiceField(
        required=False,
        choices=[*_choices("Shown to agents", SHOWN_STATUSES), (ALL, "All")],
        widget=SelectWidget,
    )
    text = forms.CharField(
        label="Text contains", required=False, max_length=200, widget=TextWidget()
    )

    def __init__(self, *, data: Mapping[str, str], teams: Sequence[Team], team: Team) -> None:
        super().__init__(data)
        slugs = Agent.objects.filter(team=team).order_by("slug").values_list("slug", flat=True)
        _offer(self.fields["agent"], [("", "All"), *((slug, slug) for slug in slugs)])
        _offer(self.fields["team"], [(each.slug, each.name) for each in teams])
        if len(teams) == 1:
            self.fields["team"].widget = forms.HiddenInput()

    @property
    def filters(self) -> MemoryFilters:
        """The filters of the list; for a valid form."""
        chosen = self.cleaned_data
        return MemoryFilters(
            agent=chosen["agent"] or None,
            user=chosen["user"] or None,
            memory_types=[chosen["memory_type"]] if chosen["memory_type"] else (),
            status=[chosen["status"]] if chosen["status"] else (),
            text=chosen["text"] or None,
        )

    def address(self, **changed: object) -> str:
        """The page's address with what the form holds, but for what is `changed`."""
        held = {name: self.data.get(name, "") for name in ("team", "at", *_FIELDS)}
        query = {name: value for name, value in (held | changed).items() if value}
        return f"{reverse(PAGE_NAME)}?{urlencode(query)}"


def _offer(field: forms.Field, choices: list[tuple[str, str]]) -> None:
    field.choices = choices  # type: ignore[attr-defined]  # a ChoiceField's
    field.widget.choices = choices


def form_of(
    request: HttpRequest, *, teams: Sequence[Team], team: Team, now: datetime, at_first: datetime
) -> TravelForm:
    """The form as the address fills it in; an address without a moment means `at_first`."""
    given: dict[str, Any] = {name: request.GET.get(name, "") for name in _FIELDS}
    asked = request.GET.get("at", "")
    moment = _read(asked) if asked else at_first
    if moment is None:
        shown = asked
    else:
        shown = local_text(min(moment, now) if moment < now + _NEARLY_NOW else moment)
    given |= {"team": team.slug, "at": shown}
    return TravelForm(data=given, teams=teams, team=team)


def moment_of(form: TravelForm, *, now: datetime) -> datetime:
    """The moment of a valid form; one that is nearly now is now."""
    moment: datetime = form.cleaned_data["at"]
    return min(moment, now) if moment < now + _NEARLY_NOW else moment


def local_text(moment: datetime) -> str:
    """Returns a moment in the zone of the page, rounded up to whole seconds."""
    there = timezone.localtime(moment).replace(tzinfo=None)
    whole = there.replace(microsecond=0)
    is_exact = whole == there or whole.year == MAXYEAR
    return (whole if is_exact else whole + timedelta(seconds=1)).isoformat()


def _read(text: str) -> datetime | None:
    try:
        moment = parse_datetime(text)
        if moment is not None and timezone.is_naive(moment):
            moment = timezone.make_aware(moment)
        return moment and moment.astimezone(timezone.get_current_timezone())
    except (ValueError, OverflowError):
        return None

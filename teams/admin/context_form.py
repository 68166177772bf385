"""Read-only context as fields of a team's form; an empty one is the usual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from teams.domain.checking import DocumentError
from teams.domain.context_settings import (
    DEFAULT_CATEGORIES,
    REQUEST_TYPES,
    ContextSettings,
    check_context_settings,
)

from .theme import SelectWidget, TextWidget

_USUAL = ContextSettings()
_PREFIX = "context_"
_CATEGORIES = "categories"
_ON = {"on": True, "off": False}


def _text(label: str, usual: str, help_text: str = "") -> forms.CharField:
    said = f"{help_text} Empty: {usual}.".strip()
    return forms.CharField(required=False, label=label, help_text=said, widget=TextWidget)


def _share(label: str, usual: float, help_text: str) -> forms.FloatField:
    said = f"{help_text} From 0 to 1; empty: {usual}."
    return forms.FloatField(required=False, label=label, help_text=said, widget=TextWidget)


def _whole(label: str, usual: int, help_text: str) -> forms.IntegerField:
    said = f"{help_text} Empty: {usual}."
    return forms.IntegerField(required=False, label=label, help_text=said, widget=TextWidget)


def _switch(label: str, help_text: str) -> forms.ChoiceField:
    choices = [("", "Usual (on)"), ("on", "On"), ("off", "Off")]
    return forms.ChoiceField(
        choices=choices, required=False, label=label, help_text=help_text, widget=SelectWidget
    )


def _kind(name: str) -> forms.CharField:
    return _text(
        f"Categories for {name.replace('_', ' ')} requests",
        ", ".join(DEFAULT_CATEGORIES[name]),
        "Separated by commas; * is every category but preferences and procedures.",
    )


class ContextForm(forms.Form):
    """The fields; a form of a team inherits them and calls `show_context` and `read_context`."""

    context_scope_priority = _text(
        "Order of scopes",
        ", ".join(_USUAL.scope_priority),
        "Separated by commas; a scope that is missing is not told.",
    )
    context_confidence_threshold = _share(
        "Least confidence", _USUAL.confidence_threshold, "What is less certain is not told."
    )
    context_general_confidence = _share(
        "Least confidence for general requests",
        _USUAL.general_confidence,
        "What a request of no particular kind is told is at least so certain.",
    )
    context_max_chars = _whole("Most characters", _USUAL.max_chars, "Of the whole block.")
    context_detect_conflicts = _switch(
        "Settle conflicts",
        "The more certain of two facts is told, else the newer, else both, marked as disputed."
        " Off: both are told as they are.",
    )
    context_read_only_marker = _switch(
        "Read-only marker", "Off: the block does not say that it is read-only."
    )
    context_enough_facts = _whole(
        "Enough facts", _USUAL.enough_facts, "With so many no further scope is asked."
    )
    context_enough_share = _share(
        "Enough of the block",
        _USUAL.enough_share,
        "With so much of the characters filled no further scope is asked.",
    )
    context_categories_coding = _kind("coding")
    context_categories_output_format = _kind("output_format")
    context_categories_general = _kind("general")
    context_categories_planning = _kind("planning")
    context_categories_personal = _kind("personal")
    context_categories_troubleshooting = _kind("troubleshooting")

    def show_context(self, stored: object) -> None:
        """Fill the fields with what the team chose otherwise than usual."""
        for place, value in _flat(stored).items():
            if isinstance(value, bool):
                value = "on" if value else "off"
            elif isinstance(value, list | tuple):
                value = ", ".join(map(str, value))
            self.initial[_PREFIX + place] = value

    def read_context(self, values: Mapping[str, Any]) -> dict[str, object] | None:
        """What was typed, None where the form did not ask; problems are noted at their fields."""
        # Any: a form's values
        if not any(self.add_prefix(name) in self.data for name in CONTEXT_FIELDS):
            return None
        chosen: dict[str, Any] = {}
        kinds: dict[str, list[str]] = {}
        for name in CONTEXT_FIELDS:
            value = values.get(name)
            if value in (None, ""):
                continue
            place = name.removeprefix(_PREFIX)
            if place.startswith(f"{_CATEGORIES}_"):
                kinds[place.removeprefix(f"{_CATEGORIES}_")] = _words(value)
            elif place == "scope_priority":
                chosen[place] = [each.casefold() for each in _words(value)]
            else:
                chosen[place] = _ON.get(value, value) if isinstance(value, str) else value
        if kinds:
            chosen[_CATEGORIES] = kinds
        try:
            return check_context_settings(chosen)
        except DocumentError as error:
            for problem_at, problems in error.problems.items():
                self.add_error(_field_of(problem_at), problems[0])
        return None


CONTEXT_FIELDS = tuple(ContextForm.base_fields)


def chosen_context(stored: object) -> list[str]:
    """What a team chose otherwise than usual, a line each."""
    return [f"{name.replace('_', ' ')}: {value}" for name, value in _flat(stored).items()]


def _flat(stored: object) -> dict[str, Any]:
    """The settings by the names of their fields, without the prefix."""
    known = dict(stored) if isinstance(stored, Mapping) else {}
    kinds = known.pop(_CATEGORIES, None)
    own = kinds if isinstance(kinds, Mapping) else {}
    return known | {f"{_CATEGORIES}_{name}": own[name] for name in REQUEST_TYPES if name in own}


def _words(typed: str) -> list[str]:
    return [each for part in typed.split(",") if (each := " ".join(part.split()))]


def _field_of(place: str) -> str | None:
    """The field of a place such as `categories.coding[0]`."""
    name = _PREFIX + place.split("[")[0].replace(".", "_")
    return name if name in CONTEXT_FIELDS else None

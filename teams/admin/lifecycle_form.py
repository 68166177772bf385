"""The settings of consolidation as fields of a team's form; an empty one is the usual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from teams.domain.checking import DocumentError
from teams.domain.lifecycle_settings import PARTS, LifecycleSettings, check_lifecycle_settings

from .theme import SelectWidget, TextWidget

_USUAL = LifecycleSettings()
_PREFIX = "lifecycle_"
_SWITCHES = {"": None, "on": True, "off": False}


def _number(name: str, label: str, help_text: str = "") -> forms.Field:
    said = f"{help_text} Empty: {getattr(_USUAL, name)}.".strip()
    kind: type[forms.IntegerField] = forms.FloatField if name == "cost_usd" else forms.IntegerField
    return kind(required=False, label=label, help_text=said, widget=TextWidget, min_value=0)


class LifecycleForm(forms.Form):
    """The fields; a form of a team inherits them and calls `show_` and `read_lifecycle`."""

    lifecycle_off = forms.CharField(
        required=False,
        label="Switched off",
        help_text=f"Separated by commas, of: {', '.join(PARTS)}. Empty: all of them run.",
        widget=TextWidget,
    )
    lifecycle_pairs_per_person = _number(
        "pairs_per_person", "Judged pairs", "A person and day, at most."
    )
    lifecycle_cost_usd = _number("cost_usd", "Cost of a run", "In USD, for models, at most.")
    lifecycle_summarise_after_days = _number(
        "summarise_after_days", "Days until a summary", "Then prompts tell an episode by it."
    )
    lifecycle_compress_after_days = _number(
        "compress_after_days", "Days until compressed", "Then prompts tell an episode in key words."
    )
    lifecycle_cold_after_days = _number(
        "cold_after_days", "Days until cold", "Of what is unimportant and unused."
    )
    lifecycle_expire_after_days = _number(
        "expire_after_days", "Days until soft-deleted", "Since anybody asked for it."
    )
    lifecycle_expire_below = _number(
        "expire_below", "Importance that never expires", "What is less important may."
    )
    lifecycle_purge_after_days = _number(
        "purge_after_days", "Days until purged", "Since it was soft-deleted; until then it can be"
        " restored.",
    )  # fmt: skip
    lifecycle_purge_erases = forms.ChoiceField(
        choices=[("", "Usual (off)"), ("on", "On"), ("off", "Off")],
        required=False,
        label="Purging erases",
        help_text="On: what is purged is erased for good, from the past as well.",
        widget=SelectWidget,
    )

    def show_lifecycle(self, stored: object) -> None:
        """Fill the fields with what the team chose otherwise than usual."""
        for name, value in (stored if isinstance(stored, dict) else {}).items():
            if isinstance(value, bool):
                value = "on" if value else "off"
            elif isinstance(value, list):
                value = ", ".join(map(str, value))
            self.initial[_PREFIX + name] = value

    def read_lifecycle(self, values: Mapping[str, Any]) -> dict[str, object] | None:
        """What was typed, None where the form did not ask; problems are noted at their fields."""
        # Any: a form's values
        if not any(self.add_prefix(name) in self.data for name in LIFECYCLE_FIELDS):
            return None
        chosen: dict[str, Any] = {}
        for name in LIFECYCLE_FIELDS:
            value = values.get(name)
            if value not in (None, ""):
                chosen[name.removeprefix(_PREFIX)] = value
        if typed := chosen.get("off"):
            words = typed.casefold().replace(",", "\n").splitlines()
            chosen["off"] = ["_".join(each.split()) for each in words if each.strip()]
        if "purge_erases" in chosen:
            chosen["purge_erases"] = _SWITCHES[chosen["purge_erases"]]
        try:
            return check_lifecycle_settings(chosen)
        except DocumentError as error:
            for place, problems in error.problems.items():
                self.add_error(_PREFIX + place.split("[")[0].split(".")[0], problems[0])
        return None


LIFECYCLE_FIELDS = tuple(LifecycleForm.base_fields)


def chosen_lifecycle(stored: object) -> list[str]:
    """What a team chose otherwise than usual, a line each."""
    values = stored if isinstance(stored, dict) else {}
    return [f"{name.replace('_', ' ')}: {value}" for name, value in values.items()]

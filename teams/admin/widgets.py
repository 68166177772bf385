"""Widgets of forms: lists as rows of inputs, and weights as sliders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from .theme import SelectWidget, TextWidget

# Rows to write in where there is no script that adds some.
_EXTRA = 2
_FILES = "teams/admin/rows"

Rows = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Column:
    """An input of each row: its part of the HTML name, its label, and its choices if it has any."""

    name: str
    label: str
    choices: Sequence[tuple[str, str]] = ()
    is_wide: bool = False
    is_number: bool = False


class RowsWidget(forms.Widget):
    """Rows of the same inputs one below the other; the script (rows.js) adds and removes some."""

    template_name = "teams/widgets/rows.html"

    class Media:
        css = {"all": [f"{_FILES}.css"]}
        js = [f"{_FILES}.js"]

    def __init__(self, *, columns: Sequence[Column], what: str) -> None:
        super().__init__()
        self.columns, self.what = columns, what

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        empty = ("",) * len(self.columns)
        filled = [*(value or []), *[empty] * _EXTRA]
        first_id = context["widget"]["attrs"].get("id", f"id_{name}")
        context["what"] = self.what
        context["rows"] = [
            self._cells(name, row, f"row {number}", first_id if number == 1 else "")
            for number, row in enumerate(filled, start=1)
        ]
        context["blank"] = self._cells(name, empty, "new row", "")
        return context

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Rows:  # Any: Django's own
        read = [self._texts(data, self._name(name, column)) for column in self.columns]
        rows = zip(*read, strict=False)
        return [row for row in rows if any(row)]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        """Whether the page had no such field: a hidden input says that it had one, without rows."""
        return name not in data and not any(self._name(name, each) in data for each in self.columns)

    def _cells(self, name: str, row: Sequence[str], which: str, first_id: str) -> list[Any]:
        # Any: what the template reads of each input
        return [
            {
                "html": self._input(column).render(
                    self._name(name, column),
                    value,
                    {
                        "aria-label": f"{self.what}, {column.label}, {which}",
                        "placeholder": column.label,
                        **({"id": first_id} if first_id and place == 0 else {}),
                    },
                ),
                "is_wide": column.is_wide,
            }
            for place, (column, value) in enumerate(zip(self.columns, row, strict=True))
        ]

    def _input(self, column: Column) -> forms.Widget:
        return SelectWidget(choices=column.choices) if column.choices else TextWidget()

    def _name(self, name: str, column: Column) -> str:
        return f"{name}_{column.name}" if len(self.columns) > 1 else name

    def _texts(self, data: Any, name: str) -> list[str]:
        values = data.getlist(name) if hasattr(data, "getlist") else data.get(name, [])
        return [str(each).strip() for each in values]


class RowsField(forms.Field):
    """Rows of inputs: a list of texts, or of objects where a row has several inputs."""

    def __init__(self, *, columns: Sequence[Column], label: str, help_text: str = "") -> None:
        super().__init__(
            required=False,
            label=label,
            help_text=help_text,
            widget=RowsWidget(columns=columns, what=label),
        )
        self.columns = columns

    def prepare_value(self, value: Any) -> Rows:  # Any: Django's own
        """The rows, of texts or objects as a document has them, or of what was typed."""
        return [self._row(each) for each in value or []]

    def to_python(self, value: Rows | None) -> list[Any]:  # Any: texts or objects
        if len(self.columns) == 1:
            return [text for (text,) in value or []]
        return [
            {
                column.name: _number(text) if column.is_number else text
                for column, text in zip(self.columns, row, strict=True)
                if text
            }
            for row in value or []
        ]

    def has_changed(self, initial: Any, data: Any) -> bool:  # Any: Django's own
        return self.prepare_value(initial) != (data or [])

    def _row(self, value: object) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        if isinstance(value, Mapping):
            texts = (value.get(column.name) for column in self.columns)
            return tuple("" if text is None else str(text) for text in texts)
        return (str(value), *[""] * (len(self.columns) - 1))


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


# A slider ends here until a larger number is typed; then it ends there.
USUAL_MOST = 1.0
STEP = 0.01
_SLIDERS = "teams/admin/sliders"


class SliderWidget(TextWidget):
    """A number with a slider beside it and its share of the sum of its `group`.

    The number is what the form sends, so it works without script and keeps every digit; empty
    means `default`. The script (sliders.js) moves both together and lets both say "input".
    """

    template_name = "teams/widgets/slider.html"
    input_type = "number"

    class Media:
        css = {"all": [f"{_SLIDERS}.css"]}
        js = [f"{_SLIDERS}.js"]

    def __init__(self, *, label: str, default: float, group: str = "weights") -> None:
        super().__init__(attrs={"min": 0, "step": "any", "placeholder": f"{default:g}"})
        self.label, self.default, self.group = label, default, group

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        stands = _place(value, self.default)
        context["slider"] = {
            "label": self.label,
            "group": self.group,
            "default": f"{self.default:g}",
            "stands": f"{stands:g}",
            "most": f"{max(USUAL_MOST, stands):g}",
            "step": f"{STEP:g}",
        }
        return context


def slider_field(
    *, label: str, default: float, most: float, help_text: str = "", group: str = "weights"
) -> forms.FloatField:
    """A number from 0 to `most` as a slider; None where it is left empty, which means `default`."""
    return forms.FloatField(
        label=label,
        required=False,
        min_value=0,
        max_value=most,
        help_text=help_text,
        widget=SliderWidget(label=label, default=default, group=group),
    )


def _place(value: object, default: float) -> float:
    try:
        return float(str(value))
    except ValueError:
        return default

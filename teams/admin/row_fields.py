"""Lists in a form: rows of inputs to fill, add and remove; rows left empty are left out."""

from __future__ import annotations

from collections.abc import Sequence
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
        """The rows there are and some empty ones, each as its inputs."""
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
        """The rows with words in them."""
        read = [self._texts(data, self._name(name, column)) for column in self.columns]
        rows = zip(*read, strict=False)
        return [row for row in rows if any(row)]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        """Never: no rows are an empty list."""
        return False

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
    """Rows of several inputs: a list of tuples of texts."""

    def __init__(
        self, *, label: str, columns: Sequence[Column], what: str, help_text: str = ""
    ) -> None:
        super().__init__(
            required=False,
            label=label,
            help_text=help_text,
            widget=RowsWidget(columns=columns, what=what),
        )

    def to_python(self, value: Any) -> Any:  # Any: Django's own
        """The rows as the widget read them."""
        return value or []

    def has_changed(self, initial: Any, data: Any) -> bool:  # Any: Django's own
        """Whether other words stand in the rows."""
        return [tuple(row) for row in initial or []] != (data or [])


class LinesField(RowsField):
    """Rows of one input: a list of texts."""

    def __init__(self, *, label: str, what: str, help_text: str = "") -> None:
        column = Column("line", what, is_wide=True)
        super().__init__(label=label, columns=[column], what=label, help_text=help_text)

    def prepare_value(self, value: Any) -> Any:  # Any: Django's own
        """As rows of one."""
        return [(each,) if isinstance(each, str) else each for each in value or []]

    def to_python(self, value: Any) -> Any:  # Any: Django's own
        """The texts."""
        return [text for (text,) in value or []]

    def has_changed(self, initial: Any, data: Any) -> bool:  # Any: Django's own
        """Whether other texts stand there."""
        return list(initial or []) != [text for (text,) in data or []]

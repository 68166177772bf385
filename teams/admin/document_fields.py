"""Widgets for lists and weights, and the form fields that are made of a document's model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from django import forms

from teams.domain.agent_document import MAX_WEIGHT, RetrievalWeights
from teams.domain.documents import OWN_FIELDS, DocumentError, Leaf, Part, Text, leaves

from .theme import AreaWidget, NumberWidget, SelectWidget, TextWidget

# Any in this module: JSON that a person wrote, and values of form fields.
Json = dict[str, Any]

_ON_OFF = {True: "on", False: "off"}
# Rows to write in where there is no script that adds some.
_EXTRA = 2

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
        css = {"all": ["teams/admin/rows.css"]}
        js = ["teams/admin/rows.js"]

    def __init__(self, *, columns: Sequence[Column], what: str) -> None:
        super().__init__()
        self.columns, self.what = columns, what
        # What an input of the first column suggests.
        self.suggestions: Sequence[str] = ()

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        empty = ("",) * len(self.columns)
        filled = [*(value or []), *[empty] * _EXTRA]
        first_id = context["widget"]["attrs"].get("id", f"id_{name}")
        context["what"] = self.what
        context["suggestions"] = self.suggestions
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
        """Returns whether the page had no such field; a hidden input marks a field without rows."""
        return name not in data and not any(self._name(name, each) in data for each in self.columns)

    def _cells(self, name: str, row: Sequence[str], which: str, first_id: str) -> list[Any]:
        # Any: what the template reads of each input
        suggested = {"list": f"suggestions-{name}"} if self.suggestions else {}
        return [
            {
                "html": self._input(column).render(
                    self._name(name, column),
                    value,
                    {
                        "aria-label": f"{self.what}, {column.label}, {which}",
                        "placeholder": column.label,
                        **({"id": first_id} if first_id and place == 0 else {}),
                        **(suggested if place == 0 else {}),
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


class SliderWidget(TextWidget):
    """A number with a slider beside it and its share of the sum of all sliders of the page.

    The number is what the form sends, so it works without script and keeps every digit; empty
    means the default. The script (sliders.js) moves both together and lets both say "input".
    """

    template_name = "teams/widgets/slider.html"
    input_type = "number"

    class Media:
        css = {"all": ["teams/admin/sliders.css"]}
        js = ["teams/admin/sliders.js"]

    def __init__(self, *, label: str, default: float) -> None:
        super().__init__({"min": 0, "step": "any", "placeholder": f"{default:g}"})
        self.label = label

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        return {**super().get_context(name, value, attrs), "label": self.label}


def slider_field(*, label: str, default: float, most: float, help_text: str = "") -> forms.Field:
    """A number from 0 to `most` as a slider; None where it is left empty, which means `default`."""
    return forms.FloatField(
        label=label,
        required=False,
        min_value=0,
        max_value=most,
        help_text=help_text,
        widget=SliderWidget(label=label, default=default),
    )


_OWN_COLUMNS = (Column("name", "Name"), Column("text", "Text", is_wide=True))


class DocumentFields:
    """The form fields of a document's model, by names such as `skills__shared`.

    `form` is a form of them to inherit from. A field that is left empty has its default.
    """

    def __init__(self, model: type[Part]) -> None:
        self.leaves = {_name(leaf.path): leaf for leaf in leaves(model)}
        made = {name: _field(leaf) for name, leaf in self.leaves.items()}
        self.form: Any = type(f"{model.__name__}Fields", (forms.Form,), made)

    def names(self, *part: str, is_deep: bool = False) -> list[str]:
        """Returns the fields of a part of the document; with `is_deep` also those of its parts."""
        return [
            name
            for name, leaf in self.leaves.items()
            if (leaf.path[: len(part)] == part if is_deep else leaf.path[:-1] == part)
        ]

    def initial(self, stored: Json) -> Json:
        """Returns what the fields show of the document."""
        return {name: _shown(leaf, _part_at(stored, leaf)) for name, leaf in self.leaves.items()}

    def changed(self, form: forms.Form) -> list[str]:
        """Returns the fields of the form's page that were changed."""
        return [
            name
            for name in form.changed_data
            if name in self.leaves
            and not form.fields[name].widget.value_omitted_from_data(
                form.data, form.files, form.add_prefix(name)
            )
        ]

    def written(self, form: forms.Form, stored: Json) -> Json:
        """Returns the document with the values of the changed fields; the rest is as `stored`."""
        document = deepcopy(stored)
        for name in self.changed(form):
            _write(document, self.leaves[name], form.cleaned_data[name])
        return document

    def add_problems(self, form: forms.Form, error: DocumentError) -> None:
        """Adds each problem to the field of its place, or to the form where none has it."""
        for place, words in error.problems.items():
            name, inner = self._field_of(place)
            start = f"{inner}: " if inner else ""
            is_there = name in form.fields
            form.add_error(name if is_there else None, [f"{start}{each}" for each in words])

    def chosen(self, stored: Json) -> list[str]:
        """Returns what differs from the defaults, a line each."""
        return [
            f"{leaf.label}: {', '.join(value) if isinstance(value, list) else value}"
            for leaf in self.leaves.values()
            if (value := _shown(leaf, _part_at(stored, leaf))) not in (None, "", [], leaf.default)
        ]

    def _field_of(self, place: str) -> tuple[str | None, str]:
        """The field of a place, and where in it, such as "row 3, description"; else the place."""
        steps = place.split(".")
        for length in range(len(steps), 0, -1):
            last, _, row = steps[length - 1].partition("[")
            name = _name((*steps[: length - 1], last))
            rest = [f"row {int(row[:-1]) + 1}"] if row else []
            if name in self.leaves:
                return name, ", ".join([*rest, *steps[length:]])
            if length == len(steps):
                first = next((each for each in self.leaves if each.startswith(f"{name}__")), None)
                if first is not None:
                    return first, ""
        return None, place


def _name(path: tuple[str, ...]) -> str:
    return "__".join(path).replace(OWN_FIELDS, "own")


def _field(leaf: Leaf) -> forms.Field:
    said: Json = {"label": leaf.label, "help_text": _help(leaf)}
    if leaf.part is RetrievalWeights:
        return slider_field(default=leaf.default, most=MAX_WEIGHT, **said)
    if leaf.path[-1] == OWN_FIELDS:
        return RowsField(columns=_OWN_COLUMNS, **said)
    if leaf.kind is list:
        return RowsField(columns=_columns(leaf), **said)
    said["required"] = False
    if leaf.kind is bool:
        choices = [("", f"Default ({_ON_OFF[leaf.default]})"), ("on", "On"), ("off", "Off")]
        return forms.TypedChoiceField(
            choices=choices,
            coerce=lambda value: value == "on",
            empty_value=None,
            widget=SelectWidget,
            **said,
        )
    if leaf.choices:
        return forms.ChoiceField(choices=_choices(leaf), widget=SelectWidget, **said)
    if leaf.kind is str:
        has_lines = any(isinstance(note, Text) and note.has_lines for note in leaf.notes)
        widget = AreaWidget(attrs={"rows": 4}) if has_lines else TextWidget()
        return forms.CharField(widget=widget, **said)
    number = forms.IntegerField if leaf.kind is int else forms.FloatField
    return number(widget=NumberWidget(attrs={"step": "any"}), **said)


def _columns(leaf: Leaf) -> list[Column]:
    if not (isinstance(leaf.item, type) and issubclass(leaf.item, Part)):
        return [Column("line", leaf.label, _choices(leaf) if leaf.choices else (), is_wide=True)]
    inner = list(leaves(leaf.item))
    return [
        Column(
            each.path[-1],
            each.label,
            _choices(each) if each.choices else (),
            is_wide=each is inner[1],
            is_number=each.kind is not str and not each.choices,
        )
        for each in inner
    ]


def _choices(leaf: Leaf) -> list[tuple[str, str]]:
    return [("", "–"), *((each, each.replace("_", " ").capitalize()) for each in leaf.choices)]


def _help(leaf: Leaf) -> str:
    found = [leaf.description] if leaf.description else []
    if leaf.range:
        found.append(f"From {leaf.range}.")
    if isinstance(leaf.default, list) and leaf.default:
        found.append(f"Empty: {', '.join(map(str, leaf.default))}.")
    elif isinstance(leaf.default, int | float) and not isinstance(leaf.default, bool):
        found.append(f"Empty: {leaf.default:,g}.")
    return " ".join(found)


def _part_at(stored: Json, leaf: Leaf) -> Json:
    part: Any = stored
    for step in leaf.path[:-1]:
        part = part.get(step) if isinstance(part, dict) else None
    return part if isinstance(part, dict) else {}


def _shown(leaf: Leaf, part: Json) -> Any:
    if leaf.path[-1] == OWN_FIELDS:
        return [{"name": name, "text": text} for name, text in _own_texts(leaf, part).items()]
    value = part.get(leaf.path[-1])
    if leaf.kind is list:
        return [value] if isinstance(value, str) else value if isinstance(value, list) else []
    if leaf.kind is bool:
        return _ON_OFF.get(value) if isinstance(value, bool) else None
    return value if isinstance(value, str | int | float) else None


def _write(document: Json, leaf: Leaf, value: Any) -> None:
    part = document
    for step in leaf.path[:-1]:
        inner = part.get(step)
        part[step] = dict(inner) if isinstance(inner, dict) else {}
        part = part[step]
    if leaf.path[-1] == OWN_FIELDS:
        for name in _own_texts(leaf, part):
            del part[name]
        part.update({row.get("name", ""): row.get("text") for row in value})
    elif value in (None, "", []):
        part.pop(leaf.path[-1], None)
    else:
        part[leaf.path[-1]] = value


def _own_texts(leaf: Leaf, part: Json) -> dict[str, str]:
    known = leaf.part.model_fields
    return {
        name: value
        for name, value in part.items()
        if name not in known and isinstance(value, str) and value.isprintable()
    }

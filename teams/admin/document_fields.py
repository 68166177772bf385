"""Form fields of a document, made of its model; what is typed in them is written back into it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from django import forms

from teams.domain.agent_document import MAX_WEIGHT, RetrievalWeights
from teams.domain.documents import OWN_FIELDS, DocumentError, Leaf, Part, Text, leaves

from .theme import AreaWidget, NumberWidget, SelectWidget, TextWidget
from .widgets import Column, RowsField, slider_field

# Any in this module: JSON that a person wrote, and values of form fields.
Json = dict[str, Any]

_ON_OFF = {True: "on", False: "off"}
_OWN_COLUMNS = (Column("name", "Name"), Column("text", "Text", is_wide=True))


class DocumentFields:
    """The form fields of a document's model, by names such as `skills__shared`.

    `form` is a form of them to inherit from. A field that is left empty has its default. `special`
    are fields that are not made of the model.
    """

    def __init__(self, model: type[Part], special: Mapping[str, forms.Field] | None = None) -> None:
        self.leaves = {_name(leaf.path): leaf for leaf in leaves(model)}
        made = {name: _field(leaf) for name, leaf in self.leaves.items()}
        self.form: Any = type(f"{model.__name__}Fields", (forms.Form,), made | dict(special or {}))

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

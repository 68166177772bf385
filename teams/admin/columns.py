"""Columns and fields of the admin that show one attribute of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .display import as_json, id_link, moment
from .theme import display

# Any: a ModelAdmin and a row of whatever model it serves.
Column = Callable[[Any, Any], Any]


def time_column(field: str, title: str, *, ordering: str | None = None) -> Column:
    """A time to the minute; sorted by itself unless `ordering` names another field."""

    @display(description=title, ordering=ordering or field)
    def column(_: Any, row: Any) -> str:
        return moment(getattr(row, field))

    return column


def json_column(field: str, title: str) -> Column:
    """A JSON document on lines of its own."""

    @display(description=title)
    def column(_: Any, row: Any) -> str:
        return as_json(getattr(row, field))

    return column


def id_column(field: str, model: str, title: str, *, ordering: str | None = None) -> Column:
    """The short id of another row, which leads to its page; `model` is `app_model`."""

    @display(description=title, ordering=ordering)
    def column(_: Any, row: Any) -> str:
        return id_link(model, getattr(row, field))

    return column


def label_column(field: str, title: str, colours: Mapping[str, str]) -> Column:
    """A word in the colour that `colours` gives it."""

    @display(description=title, ordering=field, label=colours)
    def column(_: Any, row: Any) -> tuple[str, str]:
        value = str(getattr(row, field))
        return value, value.replace("_", " ")

    return column

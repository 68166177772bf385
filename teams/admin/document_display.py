"""A JSON document in words: names with their values, lists as lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from .display import NOTHING, Column
from .theme import display


def in_words(value: object) -> SafeString | str:
    """An object as names with values, a list as a list, true and false as yes and no."""
    if value in ({}, [], None, ""):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return format_html(
            '<dl class="document">{}</dl>',
            format_html_join(
                "",
                "<div><dt>{}</dt><dd>{}</dd></div>",
                ((str(name).replace("_", " "), in_words(each)) for name, each in value.items()),
            ),
        )
    if isinstance(value, list | tuple):
        items = format_html_join("", "<li>{}</li>", ((in_words(each),) for each in value))
        return format_html('<ul class="document">{}</ul>', items)
    return str(value)


def document_column(
    field: str, title: str, *, read: Callable[[Any], object] | None = None
) -> Column:
    """A part of a row's document in words; what `read` gives in place of the field."""

    @display(description=title)
    def column(_: Any, row: Any) -> str:  # Any: as for Column
        return in_words(getattr(row, field) if read is None else read(row))

    return column

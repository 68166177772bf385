"""How ids, times, links and JSON look on every page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

NOTHING = "–"
_SHORT = 8


def moment(value: datetime | None) -> SafeString | str:
    """A time to the minute in the zone that the page names; its title has the seconds."""
    if value is None:
        return NOTHING
    there = timezone.localtime(value)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        there.isoformat(),
        there.strftime("%Y-%m-%d %H:%M:%S %Z"),
        there.strftime("%Y-%m-%d %H:%M"),
    )


def zone_badge(request: HttpRequest) -> list[str]:
    """Beside the heading of every page: in which zone it shows times, and the badge's colour."""
    del request
    return [f"Times in {timezone.get_current_timezone_name()}", "default"]


def short_id(value: UUID) -> str:
    """The last digits of an id; the first ones are a time and equal for neighbours."""
    return f"…{str(value)[-_SHORT:]}"


def page_of(model: str, row_id: object) -> str:
    """The address of a row's page; `model` is `app_model`."""
    return reverse(f"admin:{model}_change", args=[row_id])


def link(url: str, text: object, *, title: str = "") -> SafeString:
    """A link in the theme's colour."""
    return format_html(
        '<a href="{}" title="{}" class="text-primary-600 dark:text-primary-500">{}</a>',
        url,
        title,
        text,
    )


def id_link(model: str, row_id: UUID | None) -> SafeString | str:
    """A short id that leads to the row; the whole id is its title. A dash for none."""
    if row_id is None:
        return NOTHING
    shown = format_html('<span class="whitespace-nowrap">{}</span>', short_id(row_id))
    return link(page_of(model, row_id), shown, title=str(row_id))


def excerpt(text: str, length: int = 90) -> str:
    """The beginning of a text on one line."""
    return Truncator(" ".join(text.split())).chars(length)


def cell(text: object) -> SafeString:
    """A text in a list's column that stays narrow, also where there is no blank in it."""
    return format_html('<span class="block break-words w-56">{}</span>', text)


def words(items: Iterable[object]) -> SafeString | str:
    """Short values side by side."""
    chips = format_html_join(
        " ",
        '<span class="bg-base-100 inline-block px-2 py-1 rounded-default text-xs'
        ' dark:bg-base-800">{}</span>',
        ((item,) for item in items),
    )
    return chips or NOTHING


def as_json(value: object) -> SafeString | str:
    """A JSON document on lines of its own."""
    if value in ({}, [], None):
        return NOTHING
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, cls=DjangoJSONEncoder)
    return format_html(
        '<pre class="bg-base-50 overflow-auto p-4 rounded-default text-xs dark:bg-base-800">'
        "{}</pre>",
        text,
    )

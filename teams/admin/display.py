"""Ids, times, links, JSON and actors as every page shows them, and columns of lists."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from teams.services.people import staff_name

from .theme import display

NOTHING = "–"


def moment(value: datetime | None, words: str = "") -> SafeString | str:
    """A time to the minute in the zone that the page names, or `words` of it; hover for seconds."""
    if value is None:
        return NOTHING
    there = timezone.localtime(value)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        there.isoformat(),
        there.strftime("%Y-%m-%d %H:%M:%S %Z"),
        words or minute(value),
    )


def minute(value: datetime) -> str:
    """A time to the minute in the zone that the page names, for a sentence."""
    return f"{timezone.localtime(value):%Y-%m-%d %H:%M}"


def zone_badge(request: HttpRequest) -> list[str]:
    """Beside the heading of every page: in which zone it shows times, and the badge's colour."""
    del request
    return [f"Times in {timezone.get_current_timezone_name()}", "default"]


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
    # The last digits: the first ones are a time and equal for neighbours.
    shown = format_html('<span class="whitespace-nowrap">…{}</span>', str(row_id)[-8:])
    return link(page_of(model, row_id), shown, title=str(row_id))


# Rows whose page is that of what is known of them, by its kind; their settings are another page.
_SUBJECTS = {"teams.enduser": "person", "teams.agent": "agent", "teams.project": "project"}


def page_of_row(row: Model) -> str:
    """The address of a row's page."""
    label = row._meta.label_lower
    if kind := _SUBJECTS.get(label):
        return reverse("about", args=[kind, row.pk])
    return page_of(label.replace(".", "_"), row.pk)


def row_link(row: Model | None) -> SafeString | str:
    """A row's name, which leads to its page; a dash for none."""
    return NOTHING if row is None else link(page_of_row(row), row)


def excerpt(text: str, length: int = 90) -> str:
    """The beginning of a text on one line."""
    return Truncator(" ".join(text.split())).chars(length)


def as_sentence(text: str) -> str:
    """The text with a full stop, unless it ends with a quotation that has one."""
    return text if text.endswith((".”", "!”", "?”")) else f"{text}."


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
    # One element, as a list's cell on a phone lays out each of its children.
    return format_html("<span>{}</span>", chips) if chips else NOTHING


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


# Any: a ModelAdmin and a row of whatever model it serves.
Column = Callable[[Any, Any], Any]


def column(
    title: str,
    read: Callable[[Any], Any],
    *,
    ordering: str | None = None,
    label: Mapping[str, str] | None = None,
) -> Column:
    """A list column or read-only field with the value of `read`; `label` gives its colours."""

    @display(description=title, ordering=ordering, label=label)
    def shown(_: Any, row: Any) -> Any:
        return read(row)

    return shown


def time_column(field: str, title: str, *, ordering: str | None = None) -> Column:
    """A time to the minute; sorted by itself unless `ordering` names another field."""
    return column(title, lambda row: moment(getattr(row, field)), ordering=ordering or field)


def json_column(field: str, title: str) -> Column:
    """A JSON document on lines of its own."""
    return column(title, lambda row: as_json(getattr(row, field)))


def id_column(field: str, model: str, title: str, *, ordering: str | None = None) -> Column:
    """The short id of another row, which leads to its page; `model` is `app_model`."""
    return column(title, lambda row: id_link(model, getattr(row, field)), ordering=ordering)


def row_column(field: str, title: str, *, ordering: str | None = None) -> Column:
    """The row that a foreign key names, which leads to its page; a dash for none."""
    return column(title, lambda row: row_link(getattr(row, field)), ordering=ordering)


def excerpt_column(field: str, title: str, *, length: int = 90) -> Column:
    """The beginning of a text; a dash for none."""
    return column(title, lambda row: excerpt(getattr(row, field), length) or NOTHING)


def label_column(
    field: str, title: str, colours: Mapping[str, str], *, words: Mapping[str, str] | None = None
) -> Column:
    """A word in the colour that `colours` gives it: of `words`, or the label of the choice."""

    def read(row: Any) -> tuple[str, str]:
        value = str(getattr(row, field))
        label = getattr(row, f"get_{field}_display", lambda: value.replace("_", " "))
        return value, (words or {}).get(value) or str(label())

    return column(title, read, ordering=field, label=colours)


def actor_column(field: str = "actor", title: str = "by") -> Column:
    """Returns the actor in words."""
    return column(title, lambda row: actor_words(getattr(row, field)), ordering=field)


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


# What the product's own work is called; the codes are those of the tasks and commands.
_WORK = {
    "task:extract": "extraction",
    "task:consolidate": "consolidation",
    "task:team_facts": "consolidation",
    "task:write_levels": "compression",
    "task:compact": "compaction",
    "task:sweep_jobs": "extraction",
    "task:flush_usage": "usage counts",
    "task:flush_key_use": "API key usage",
    "task:clear_caches": "erasure",
    "task:index_messages": "indexing",
    "task:embed_memories": "indexing",
    "task:seal_log": "log sealing",
    "task:events": "event counts",
    "judge": "the judge",
    "merged": "a merge",
    "correction": "a correction",
}
_KINDS = {
    "staff": "{} (staff)",
    "agent": "{} (agent)",
    "user": "{} (person)",
    "key": "API key {}",
    "command": "{} (command)",
    "database": "{} (database)",
    "summary": "summary ({})",
    "judge": "the judge ({})",
    "task": "{}",
    "talk": "the person, in a conversation",
}


def actor_words(actor: str) -> str:
    """The name of who acted: "Rob Moe (staff)", "kyra (agent)", "extraction"."""
    if not actor:
        return NOTHING
    if actor in _WORK:
        return _WORK[actor]
    kind, colon, name = actor.partition(":")
    if not colon or not name or kind not in _KINDS:
        return actor
    if kind == "staff":
        name = staff_name(name)
    is_named = kind in ("staff", "agent", "user", "command")
    return _KINDS[kind].format(name if is_named else name.replace("_", " "))


_ACTOR = re.compile(rf"\b(?:{'|'.join(_KINDS)}):[\w.@+-]*[\w@+-]")


def with_names(text: str) -> str:
    """Returns the text with the codes of those who acted in words."""
    return _ACTOR.sub(lambda found: actor_words(found[0]), text)


def actors_called(words: str) -> list[str]:
    """The codes of the product's own work whose words hold these, for a search."""
    wanted = words.strip().lower()
    return [code for code, name in _WORK.items() if wanted and wanted in name]

"""The search that Ctrl-K opens: names by their beginning, pages and settings by words, memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from memory.models import Memory
from teams.admin.display import excerpt, page_of, page_of_row
from teams.admin_permissions import ADMINS, is_member, may
from teams.models import Agent, EndUser, Project, Team

from .home import navigation
from .memory_list import TooManyTeamsError, marked_words, ranked_memories, status_words, words_of

_MOST_CHARS = 200
_MOST_WORDS = 12
_MOST_NAMES = 5
_MOST_PAGES = 5
_FEW_WORDS = 3
_WORD_CHARS = 3
_MOST_MEMORIES = 10
_TEXT_CHARS = 200
# By model: the word for it, its icon, and the fields that hold its names.
_NAMED: dict[type[Any], tuple[str, str, tuple[str, ...]]] = {
    EndUser: ("Person", "person", ("external_id", "display_name")),
    Agent: ("Agent", "smart_toy", ("slug", "name", "aliases__slug")),
    Project: ("Project", "folder", ("slug", "name")),
}


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: a line with the words marked, what it is, and where it leads."""

    title: SafeString
    note: str
    url: str
    icon: str


def search_view(request: HttpRequest) -> HttpResponse:
    """Returns the results for `s`: alone for the script of Ctrl-K, else on a page with a field."""
    text = request.GET.get("s", "").replace("\x00", "").strip()[:_MOST_CHARS]
    context: dict[str, Any] = {"text": text, "hits": list(_hits(request, text)) if text else []}
    if request.headers.get("HX-Request"):
        return TemplateResponse(request, "admin/memory/search/results.html", context)
    context |= {**admin.site.each_context(request), "title": "Search"}
    return TemplateResponse(request, "admin/memory/search/page.html", context)


def _hits(request: HttpRequest, text: str) -> Iterator[Hit]:
    words = words_of(text)
    if is_member(request):
        yield from _named(text, words)
    yield from _pages(request, text, words)
    if is_member(request):
        yield from _memories(request, text, words)


def _named(text: str, words: list[str]) -> Iterator[Hit]:
    """People, agents and projects with a name that begins so, or that a word of the text is."""
    asked = text.split()[:_MOST_WORDS]
    for model, (kind, icon, fields) in _NAMED.items():
        is_it = Q()
        for field in fields:
            is_it |= Q(**{f"{field}__istartswith": text}) | Q(**{f"{field}__icontains": f" {text}"})
            for word in (each.strip(".,:;!?\"'()") for each in asked):
                if word:
                    is_it |= Q(**{f"{field}__iexact": word})
                    is_it |= Q(**{f"{field}__istartswith": f"{word} "})
        rows = model._default_manager.filter(is_it).select_related("team").distinct()
        for row in rows.order_by("pk")[:_MOST_NAMES]:
            name = getattr(row, "name", "") or str(row)
            yield Hit(marked_words(name, words), f"{kind} · {row.team}", page_of_row(row), icon)


def _pages(request: HttpRequest, text: str, words: list[str]) -> Iterator[Hit]:
    """Pages of the menu, and settings of the one team that is seen, by what their titles say.

    A title matches if it holds the text, or, for a few words, if its words begin with most of them.
    """
    pages = (
        (str(item["title"]), "Page", str(item["link"]), str(item["icon"]))
        for group in navigation(request)
        for item in group["items"]
        if item.get("permission", lambda _: True)(request)
    )
    asked = text.lower()
    few = [each for each in asked.split() if len(each) >= _WORD_CHARS]
    few = few if len(few) <= _FEW_WORDS else []
    scored = []
    for each in (*pages, *_settings(request)):
        title = each[0].lower()
        begun = sum(any(word.startswith(one) for word in title.split()) for one in few)
        scored.append((len(few) + 1 if asked in title else begun, each))
    best = max((score for score, _ in scored), default=0)
    found = [each for score, each in scored if score == best and score]
    for title, note, url, icon in found[:_MOST_PAGES]:
        yield Hit(marked_words(title, words), note, url, icon)


def _settings(request: HttpRequest) -> Iterable[tuple[str, str, str, str]]:
    teams = list(Team.objects.all()[:2])
    if len(teams) != 1 or not may(request, roles=ADMINS, team_id=teams[0].pk):
        return
    form: Any = admin.site.get_model_admin(Team).get_form(request, teams[0], change=True)
    for name, field in form.base_fields.items():
        if field.label and not field.widget.is_hidden:
            url = f"{page_of('teams_team', teams[0].pk)}#id_{name}"
            yield str(field.label), f"Setting of {teams[0]}", url, "tune"


def _memories(request: HttpRequest, text: str, words: list[str]) -> Iterator[Hit]:
    try:
        found = ranked_memories(request, text, most=_MOST_MEMORIES)
    except TooManyTeamsError:
        title = SafeString("Choose a team to search its memories")
        yield Hit(title, "Page", reverse("choose_team"), "groups")
        return
    for memory in found:
        day = timezone.localtime(memory.created_at)
        yield Hit(
            marked_words(excerpt(memory.content, _TEXT_CHARS), words),
            f"{_whose(memory)} · {day:%Y-%m-%d} · {status_words(memory.status)}",
            page_of("memory_memory", memory.pk),
            "neurology",
        )


def _whose(memory: Memory) -> str:
    return str(memory.end_user or memory.agent or memory.project or "the team")

"""The addresses that `benchmarks.admin_pages` asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Model
from django.urls import reverse
from django.utils import timezone

from audit.models import MemoryLog, OperationalEvent
from benchmarks.admin_ground import AGENTS
from memory.admin.items import item_url
from memory.models import Contradiction, Job, Memory
from memory.satellites.consent.models import ConsentRequest
from routing.models import RoutingDecision, SpendEntry
from teams.models import Agent, Conversation, EndUser, Project, StaffUser

_QUESTION = "Who restarts the billing workers?"
_PER_PAGE = 50
_MODEL_FREE = {StaffUser}


@dataclass(frozen=True, slots=True)
class Page:
    """One page: GET, or POST of a form; a cold one is asked for without kept figures."""

    name: str
    url: str
    form: Mapping[str, str] = field(default_factory=dict)
    is_cold: bool = False


def pages_of() -> Iterator[Page]:
    """Every page of the team's admin; call it in the team's scope."""
    home = reverse("admin:index")
    yield Page("home, cold", home, is_cold=True)
    yield Page("home", home)
    for text in ("person-1", _QUESTION, "zzzz"):
        yield Page(f"search “{text}”", f"{reverse('admin:search')}?{urlencode({'s': text})}")
    for model in admin.site._registry:
        if model._meta.app_label in ("memory", "teams", "routing", "audit"):
            yield from _usual(model)
    for title, model, query in _narrowed():
        yield Page(f"{_name(model)}, {title}", _list(model, **query))
    yield from _special()


def _usual(model: type[Model]) -> Iterator[Page]:
    """The list, its second page, and the page of a row."""
    if model in _MODEL_FREE:
        return
    name, rows = _name(model), model._default_manager.all()
    yield Page(name, _list(model))
    if rows[100:101]:
        yield Page(f"{name}, second page", _list(model, p="2"))
    first = rows.order_by("pk").first()
    if first is not None:
        yield Page(f"{name}, one", _page(first))


def _narrowed() -> Iterator[tuple[str, type[Model], dict[str, str]]]:
    """Lists under their filters, orders and searches."""
    agent = str(Agent.objects.order_by("slug").values_list("pk", flat=True)[0])
    person = str(EndUser.objects.order_by("external_id").values_list("pk", flat=True)[0])
    project = str(Project.objects.order_by("slug").values_list("pk", flat=True)[0])
    week = (timezone.now() - timedelta(days=7)).date().isoformat()
    memory = Memory.objects.order_by("-id")[5]
    pages = Memory.objects.count() // _PER_PAGE
    for far in (100, 1_000):
        if far <= pages:
            yield f"page {far}", Memory, {"p": str(far)}
    for title, query in {
        "live": {"standing": "live"},
        "not shown": {"standing": "gone"},
        "disputed": {"status__exact": "disputed"},
        "deleted": {"status__exact": "soft_deleted"},
        "semantic": {"memory_type__exact": "semantic"},
        "identity (none)": {"memory_type__exact": "identity"},
        "cold": {"tier__exact": "cold"},
        "of an agent": {"agent__id__exact": agent},
        "of a person": {"end_user__id__exact": person},
        "of a project": {"project__id__exact": project},
        "of a category": {"category": "category-3"},
        "of no category": {"category": "-"},
        "of a tag": {"tag": "tag-7"},
        "pinned": {"is_pinned__exact": "1"},
        "importance 8 to 9": {"importance_from": "8", "importance_to": "9"},
        "up to a week": {"age": "week"},
        "over 180 days (none)": {"age": "older"},
        "never used": {"use": "never"},
        "used often": {"use": "often"},
        "not used for 30 days": {"use": "unused"},
        "used this week": {"use": "week"},
        "waiting for a yes": {"team_fact": "waiting"},
        "stored since": {"created_at_from": week},
        "live of an agent, a category": {
            "standing": "live",
            "agent__id__exact": agent,
            "category": "category-3",
        },
        "by text": {"o": "1"},
        "by whose": {"o": "2"},
        "by type": {"o": "3"},
        "by status": {"o": "4"},
        "oldest first": {"o": "5"},
        "by use": {"o": "-6"},
        "search": {"q": _QUESTION},
        "search, live of a category": {
            "q": _QUESTION,
            "standing": "live",
            "category": "category-3",
        },
        "search, by use": {"q": _QUESTION, "o": "-6"},
        "search, of deleted": {"q": "billing", "status__exact": "soft_deleted"},
        "search for nothing": {"q": "zzzz qqqq"},
        "search for an id": {"q": str(memory.pk)},
    }.items():
        yield title, Memory, query
    for title, query in {
        "left for later": {"state": "snoozed"},
        "settled": {"state": "resolved"},
        "all": {"state": "all"},
        "disputes since": {"state": "all", "verdict__exact": "dispute", "detected_at_from": week},
        "search": {"q": "billing"},
    }.items():
        yield title, Contradiction, query
    yield "all", ConsentRequest, {"state": "all"}
    yield "approved", ConsentRequest, {"state": "approved"}
    yield "done", Job, {"state": "done"}
    yield "failed", Job, {"state": "failed"}
    yield "search", Job, {"q": "thread-7"}
    for event in ("created", "linked", "pinned", "erased"):
        yield event, MemoryLog, {"event": event}
    yield "since", MemoryLog, {"at_from": week}
    yield "of a memory", MemoryLog, {"q": str(memory.pk)}
    yield "of the end of an id", MemoryLog, {"q": str(memory.pk)[-6:]}
    yield "of an actor", MemoryLog, {"q": "ann"}
    if pages >= 100:
        yield "page 100", MemoryLog, {"p": "100"}
    for title in ("week", "month", "all"):
        yield title, OperationalEvent, {"time": title}
    yield "searches of a month", OperationalEvent, {"time": "month", "op": "search"}
    yield "errors of a month", OperationalEvent, {"time": "month", "status": "error"}
    yield "of an agent", Conversation, {"agent__id__exact": agent}
    yield "search", Conversation, {"q": "thread-77"}
    yield "search", EndUser, {"q": "person-77"}
    yield "of a tier", SpendEntry, {"tier": "fast"}
    yield "since", SpendEntry, {"at_from": week}
    yield "of a tier", RoutingDecision, {"tier": "fast"}
    yield "failed attempts", RoutingDecision, {"attempts": "failed"}


def _special() -> Iterator[Page]:
    """Pages that are no list of rows and no form of one."""
    story = Memory.objects.filter(extractor="correction").order_by("-id").first()
    if story is not None:
        yield Page("memory with a long story", _page(story))
        yield Page("its log", _list(MemoryLog, q=str(story.pk)))
        yield Page("correct it", reverse("admin:memory_memory_correct_this", args=[story.pk]))
    pair = Contradiction.objects.filter(resolved_at=None).order_by("-detected_at").first()
    if pair is not None:
        yield Page("inbox", reverse("inbox"))
        yield Page("review", item_url("contradiction", pair.pk))
        yield Page(
            "review, of a search",
            f"{item_url('contradiction', pair.pk)}?{urlencode({'q': 'billing'})}",
        )
    settled = Contradiction.objects.filter(resolved_at__isnull=False).first()
    if settled is not None:
        yield Page("review, settled", item_url("contradiction", settled.pk))
    waiting = ConsentRequest.objects.filter(state="waiting").first()
    if waiting is not None:
        yield Page("consent request, waiting", item_url("consent", waiting.pk))
    for kind, model in (("person", EndUser), ("agent", Agent), ("project", Project)):
        pk = model._default_manager.values_list("pk", flat=True)[0]
        yield Page(f"about a {kind}", reverse("about", args=[kind, pk]))
    talk = Conversation.objects.filter(last_position__gt=0).first()
    if talk is not None:
        yield Page("conversation with messages", _page(talk))
    yield from _tried()
    yield from _travelled()
    for model in (Agent, EndUser, Project):
        query = {"app_label": "memory", "model_name": "memory", "field_name": _FIELDS[model]}
        for term in ("", "1"):
            url = f"{reverse('admin:autocomplete')}?{urlencode({**query, 'term': term})}"
            yield Page(f"autocomplete of {_FIELDS[model]} “{term}”", url)


_FIELDS: Mapping[type[Model], str] = {Agent: "agent", EndUser: "end_user", Project: "project"}


def _tried() -> Iterator[Page]:
    url = reverse("memory_playground")
    yield Page("playground", url)
    agent = Agent.objects.order_by("slug").first()
    person = EndUser.objects.order_by("external_id").first()
    if agent is None or person is None:
        return
    for plan in ("retrieve", "prompt"):
        form = {"agent": str(agent.pk), "plan": plan, "question": _QUESTION}
        yield Page(f"playground, {plan}", url, form)
        yield Page(f"playground, {plan} of a person", url, {**form, "person": person.external_id})
    yield Page(
        "playground, with cold and messages",
        url,
        {**form, "plan": "retrieve", "include_cold": "yes", "include_raw": "yes"},
    )


def _travelled() -> Iterator[Page]:
    now = timezone.now()
    for days in (1, 30, 80):
        at = (now - timedelta(days=days)).replace(microsecond=0, tzinfo=None).isoformat()
        for title, query in {
            "": {},
            ", live of an agent": {"agent": f"agent-{AGENTS // 2}"},
            ", words": {"text": "billing"},
            ", words of none": {"text": "zzzz"},
            ", deleted": {"status": "soft_deleted"},
            ", changed since": {"view": "changes"},
            ", changed since, words of none": {"view": "changes", "text": "zzzz"},
        }.items():
            address = f"{reverse('time_travel')}?{urlencode({'at': at, **query})}"
            yield Page(f"{days} days ago{title}", address)


def _name(model: type[Model]) -> str:
    return str(model._meta.verbose_name_plural)


def _list(model: type[Model], **query: str) -> str:
    opts = model._meta
    url = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    return f"{url}?{urlencode(query)}" if query else url


def _page(row: Model) -> str:
    opts = row._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk])

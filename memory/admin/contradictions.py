"""Contradictions: a queue in the order of what matters most, and a page to settle each one."""

from __future__ import annotations

from copy import copy
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from memory.models import Contradiction
from memory.selectors.contradictions import (
    QUEUE_ORDER,
    is_snoozed,
    is_waiting,
    judge_records,
    with_queue_columns,
)
from teams.admin.base import OneCountChangeList, TeamAdmin
from teams.admin.confirm import Change, list_action
from teams.admin.display import NOTHING, row_link
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import AutocompleteFilter, ChoiceFilter, RelatedFilter, display
from teams.errors import ConflictError, DomainError

from .review import (
    UNDO_FORM,
    Queue,
    ReviewForm,
    carry_out,
    review_context,
    take_back,
    with_undo,
)
from .settlements import KEEP_A, KEEP_B, KEEP_BOTH, with_sides
from .sides import aligned_excerpts, marked, resolution_words

_CELL_CHARS = 110
# A page of the queue is worked through long before its end; the rest is found by the next one.
_MAX_QUEUE = 1_000
_FILTERS = "_changelist_filters"
_TEMPLATE = "admin/memory/contradiction/review.html"


def _settle_chosen(name: str, change: Change[Contradiction], title: str) -> Any:
    """The action `name` of the list: settle the chosen ones."""

    def rows_of(request: HttpRequest, _: QuerySet[Contradiction]) -> QuerySet[Contradiction]:
        # Not the list's own rows: one that somebody settled since is no longer on it, and would
        # be passed over without a word.
        return with_sides(pk__in=request.POST.getlist(ACTION_CHECKBOX_NAME))

    return list_action(name, change, title, rows_of=rows_of)


class StateFilter(OpenFirstFilter):
    """What waits first."""

    title = "state"
    parameter_name = "state"
    states = {
        "open": ("Waiting", lambda: is_waiting(timezone.now())),
        "snoozed": ("Left for later", lambda: is_snoozed(timezone.now())),
        "resolved": ("Settled", Q(resolved_at__isnull=False)),
        "all": ("All", Q()),
    }


class QueueList(OneCountChangeList):
    """A list that puts what waits by weight and group, and what is settled by when it was."""

    def _get_default_ordering(self) -> list[str]:
        # Not the admin's own: that one sorts rows before they have the columns of the queue.
        return ["-resolved_at"] if self.params.get("state") == "resolved" else [*QUEUE_ORDER]


@admin.register(Contradiction)
class ContradictionAdmin(TeamAdmin[Contradiction]):
    """The queue of pairs that a judge found to conflict, and of what somebody reported as wrong."""

    list_display = ["statements", "age", "use", "agent", "person", "state", "team"]
    list_filter = [
        StateFilter,
        ("team", RelatedFilter),
        ("strategy", ChoiceFilter),
        ("memory_a__agent", AutocompleteFilter),
        ("memory_a__end_user", AutocompleteFilter),
        ("detected_at", DaysFilter),
    ]
    list_per_page = 20
    list_before_template = "admin/memory/contradiction/queue.html"
    list_after_template = "admin/memory/contradiction/judge_records.html"
    when_empty = "No contradiction waits for a decision. The filter “state” shows settled ones."
    search_fields = ["memory_a__content", "memory_b__content", "memory_a__subject"]
    actions = ["keep_a_selected", "keep_b_selected", "keep_both_selected"]

    keep_a_selected = _settle_chosen("keep_a_selected", KEEP_A, "Keep A")
    keep_b_selected = _settle_chosen("keep_b_selected", KEEP_B, "Keep B")
    keep_both_selected = _settle_chosen("keep_both_selected", KEEP_BOTH, "Both are valid")

    class Media:
        css = {"all": ["memory/admin/contradictions.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Contradiction]:
        """With both sides and what the queue is sorted by."""
        rows = (
            super()
            .get_queryset(request)
            .select_related("team", "memory_a__agent", "memory_a__end_user", "memory_b")
        )
        return with_queue_columns(rows)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[QueueList]:
        """The list's class."""
        return QueueList

    def get_list_display(self, request: HttpRequest) -> Any:  # Any: as in Django
        """Without the state where it is the same in every row."""
        columns = super().get_list_display(request)
        if request.GET.get("state", "open") == "open":
            return [column for column in columns if column != "state"]
        return columns

    def get_urls(self) -> list[URLPattern]:
        """With the addresses that the buttons of the page send to."""
        own = [
            path(f"<path:object_id>/{name}/", self.admin_site.admin_view(view), name=url_name)
            for name, view, url_name in (
                ("settle", self.settle_view, "memory_contradiction_settle"),
                ("undo", self.undo_view, "memory_contradiction_undo"),
            )
        ]
        return [*own, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The queue, and where the judge errs."""
        shown: dict[str, Any] = {"undo_form": UNDO_FORM}
        if request.method == "GET":
            shown |= {"judge_records": judge_records()}
        response = super().changelist_view(request, {**shown, **(extra_context or {})})
        if isinstance(response, TemplateResponse) and response.context_data:
            rows = list(getattr(response.context_data.get("cl"), "result_list", ()))
            query = _query(**{_FILTERS: request.GET.urlencode()}) if request.GET else ""
            if rows and rows[0].resolved_at is None:
                page = self._url("change", rows[0].pk, request)
                response.context_data["first_url"] = f"{page}?{query}" if query else page
        return response

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The page of one contradiction: both sides, what speaks for them, and the decision."""
        pair = _pair(object_id)
        if pair is None:
            # Django's own answer to an id that leads nowhere.
            return super().change_view(request, object_id)
        if request.method == "POST" or not self.has_view_permission(request, pair):
            raise PermissionDenied
        return self._page(request, pair, ReviewForm(initial={"content": ""}))

    def settle_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Carry out what was chosen, then go on to the next one of the same list."""
        pair = self._to_decide(request, object_id)
        if request.method != "POST":
            return HttpResponseRedirect(self._url("change", pair.pk, request))
        form = ReviewForm(request.POST)
        if not form.is_valid():
            return self._page(request, pair, form)
        queue = self._queue(request)
        try:
            told = carry_out(request, pair, form)
        except ConflictError as error:
            # Somebody else was quicker: nothing changed twice, and nothing typed is lost.
            messages.warning(request, f"Nothing was changed. {error.message}")
            typed = form.cleaned_data["note"]
            if form.cleaned_data["choice"] == "merge":
                typed = form.cleaned_data["content"]
            if typed:
                messages.info(request, f"What you wrote was not stored: “{typed}”")
        except DomainError as error:
            form.add_error(None, error.message)
            return self._page(request, pair, form)
        else:
            if form.cleaned_data["choice"] in ("day", "week"):
                messages.success(request, told)
            else:
                url = self._url("undo", pair.pk, request)
                messages.success(request, with_undo(told, url))
        return HttpResponseRedirect(self._next(request, queue, pair))

    def undo_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take its settlement back, and show it again."""
        pair = self._to_decide(request, object_id)
        if request.method == "POST":
            take_back(request, pair)
        return HttpResponseRedirect(self._url("change", pair.pk, request))

    def _to_decide(self, request: HttpRequest, object_id: str) -> Contradiction:
        """The contradiction that the login may decide on; nobody may on one that is not there."""
        pair = _pair(object_id)
        if pair is None or not self.has_act_permission(request, pair):
            raise PermissionDenied
        return pair

    def _page(self, request: HttpRequest, pair: Contradiction, form: ReviewForm) -> HttpResponse:
        queue = self._queue(request)
        following = queue.after(pair.pk)
        filters = request.GET.get(_FILTERS, "")
        shown = review_context(
            pair=pair, queue=queue, form=form, start=request.GET.get("start", "both")
        )
        context = {
            **self.admin_site.each_context(request),
            **shown,
            "title": "Contradiction",
            "opts": self.opts,
            # Without the theme's scripts for forms of rows.
            "media": forms.Media(self.Media),
            "can_act": self.has_act_permission(request, pair),
            "settle_url": self._url("settle", pair.pk, request),
            "undo_url": self._url("undo", pair.pk, request),
            "next_url": self._url("change", following[0], request) if following else "",
            "list_url": self._list_url(request),
            "filters_query": _query(**{_FILTERS: filters}) if filters else "",
            "start": "start" in request.GET,
        }
        return TemplateResponse(request, _TEMPLATE, context)

    def _queue(self, request: HttpRequest) -> Queue:
        """What is open in the list that the reviewer came from: its filters, search and order."""
        listing = copy(request)
        listing.method = "GET"
        listing.GET = QueryDict(request.GET.get(_FILTERS, ""))
        try:
            rows = self.get_changelist_instance(listing).queryset
        except (IncorrectLookupParameters, DisallowedModelAdminLookup):
            rows = self.get_queryset(request).filter(is_waiting(timezone.now()))
        open_rows = rows.filter(resolved_at=None)
        return Queue(list(open_rows.values_list("pk", flat=True)[:_MAX_QUEUE]))

    def _next(self, request: HttpRequest, queue: Queue, pair: Contradiction) -> str:
        following = queue.next_open(pair.pk)
        if following is None:
            return self._list_url(request)
        return self._url("change", following, request)

    def _url(self, name: str, pk: UUID, request: HttpRequest) -> str:
        url = reverse(f"admin:memory_contradiction_{name}", args=[pk])
        filters = request.GET.get(_FILTERS, "")
        return f"{url}?{_query(**{_FILTERS: filters})}" if filters else url

    def _list_url(self, request: HttpRequest) -> str:
        url = reverse("admin:memory_contradiction_changelist")
        filters = request.GET.get(_FILTERS, "")
        return f"{url}?{filters}" if filters else url

    @display(description="statements")
    def statements(self, pair: Contradiction) -> SafeString:
        """Both sides, one above the other, with what differs marked."""
        second = pair.memory_b.content if pair.memory_b else ""
        one, other = aligned_excerpts(pair.memory_a.content, second, length=_CELL_CHARS)
        group = ""
        if pair.resolved_at is None and pair.group_size > 1:  # type: ignore[attr-defined]
            about = pair.memory_a.subject or "the same memory"
            group = f"{pair.group_size} about {about}"  # type: ignore[attr-defined]
        return format_html(
            '<span class="pair-cell"><span><b>A</b> {}</span><span><b>B</b> {}</span>{}</span>',
            marked(one, other) if second else one,
            marked(other, one) if second else "– reported as wrong",
            format_html('<span class="pair-group">{}</span>', group) if group else "",
        )

    @display(description="age", ordering="detected_at")
    def age(self, pair: Contradiction) -> SafeString:
        """Since when it waits, or when it was found."""
        found = timezone.localtime(pair.detected_at)
        return format_html(
            '<time class="whitespace-nowrap" datetime="{}" title="{}">{}</time>',
            found.isoformat(),
            found.strftime("%Y-%m-%d %H:%M %Z"),
            timesince(pair.detected_at, depth=1),
        )

    @display(description="use", ordering="uses")
    def use(self, pair: Contradiction) -> int:
        """How often both sides were retrieved."""
        return int(pair.uses)  # type: ignore[attr-defined]  # with_queue_columns

    @display(description="agent", ordering="memory_a__agent__name")
    def agent(self, pair: Contradiction) -> SafeString | str:
        """Whose it is."""
        return row_link(pair.memory_a.agent) if pair.memory_a.agent else "all"

    @display(description="person", ordering="memory_a__end_user__external_id")
    def person(self, pair: Contradiction) -> SafeString | str:
        """Whom it is about."""
        return row_link(pair.memory_a.end_user) if pair.memory_a.end_user else NOTHING

    @display(description="resolution", ordering="resolved_at")
    def state(self, pair: Contradiction) -> str:
        """How it was settled, or that it waits."""
        return resolution_words(pair)


def _pair(object_id: str) -> Contradiction | None:
    """The contradiction of that id with its sides, in the teams that the login sees."""
    try:
        return with_sides(pk=UUID(object_id)).first()
    except ValueError:
        return None


def _query(**values: str) -> str:
    query = QueryDict(mutable=True)
    query.update(values)
    return query.urlencode()

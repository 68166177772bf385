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
from memory.selectors import contradictions as selectors
from teams.admin.base import OneCountChangeList, TeamAdmin, id_in
from teams.admin.confirm import list_action
from teams.admin.display import column, moment, row_link, with_names
from teams.admin.filters import DaysFilter, condition_filter
from teams.admin.theme import AutocompleteFilter, ChoiceFilter, RelatedFilter, display
from teams.errors import ConflictError, DomainError

from . import review, settlements

_CELL_CHARS = 110
# A page of the queue is worked through long before its end; the rest is found by the next one.
_MAX_QUEUE = 1_000
_FILTERS = "_changelist_filters"


def _chosen(request: HttpRequest, _: QuerySet[Contradiction]) -> QuerySet[Contradiction]:
    # Not the list's own rows: one that somebody settled since is no longer on it, and would be
    # passed over without a word.
    return settlements.with_sides(pk__in=request.POST.getlist(ACTION_CHECKBOX_NAME))


StateFilter = condition_filter(
    "state",
    {
        "open": ("Open", lambda: selectors.is_waiting(timezone.now())),
        "snoozed": ("Left for later", lambda: selectors.is_snoozed(timezone.now())),
        "resolved": ("Settled", Q(resolved_at__isnull=False)),
        "all": ("All", Q()),
    },
    opens_first=True,
)


class QueueList(OneCountChangeList):
    """A list that puts what waits by weight and group, and what is settled by when it was."""

    def _get_default_ordering(self) -> list[str]:
        # Not the admin's own: that one sorts rows before they have the columns of the queue.
        return (
            ["-resolved_at"] if self.params.get("state") == "resolved" else [*selectors.QUEUE_ORDER]
        )


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
    when_empty = "No open contradictions. Use the filter “State” to see settled ones."
    search_fields = ["memory_a__content", "memory_b__content", "memory_a__subject"]
    actions = [
        list_action("keep_a_selected", settlements.KEEP_A, "Keep A", rows_of=_chosen),
        list_action("keep_b_selected", settlements.KEEP_B, "Keep B", rows_of=_chosen),
        list_action("keep_both_selected", settlements.KEEP_BOTH, "Both are valid", rows_of=_chosen),
    ]

    age = column(
        "age",
        lambda pair: moment(pair.detected_at, timesince(pair.detected_at, depth=1)),
        ordering="detected_at",
    )
    use = column("uses", lambda pair: int(pair.uses), ordering="uses")
    agent = column(
        "agent",
        lambda pair: row_link(pair.memory_a.agent) if pair.memory_a.agent else "all",
        ordering="memory_a__agent__name",
    )
    person = column(
        "person",
        lambda pair: row_link(pair.memory_a.end_user),
        ordering="memory_a__end_user__external_id",
    )
    state = column("resolution", settlements.resolution_words, ordering="resolved_at")

    class Media:
        css = {"all": ["memory/admin/contradictions.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Contradiction]:
        sides = ("memory_a__agent", "memory_a__end_user", "memory_b")
        return selectors.with_queue_columns(
            super().get_queryset(request).select_related("team", *sides)
        )

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[QueueList]:
        return QueueList

    def get_list_display(self, request: HttpRequest) -> Any:  # Any: as in Django
        """Without the state where it is the same in every row."""
        columns = super().get_list_display(request)
        if request.GET.get("state", "open") == "open":
            return [column for column in columns if column != "state"]
        return columns

    def get_urls(self) -> list[URLPattern]:
        settle, undo = map(self.admin_site.admin_view, (self.settle_view, self.undo_view))
        return [
            path("<path:object_id>/settle/", settle, name="memory_contradiction_settle"),
            path("<path:object_id>/undo/", undo, name="memory_contradiction_undo"),
            *super().get_urls(),
        ]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shown: dict[str, Any] = {"undo_form": review.UNDO_FORM}
        if request.method == "GET":
            shown |= {"judge_records": selectors.judge_records()}
        response = super().changelist_view(request, {**shown, **(extra_context or {})})
        if isinstance(response, TemplateResponse) and response.context_data:
            rows = list(getattr(response.context_data.get("cl"), "result_list", ()))
            if rows and rows[0].resolved_at is None:
                response.context_data["first_url"] = self._url("change", rows[0].pk, request)
        return response

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        pair = _pair(object_id)
        if pair is None:
            # Django's own answer to an id that leads nowhere.
            return super().change_view(request, object_id)
        if request.method == "POST" or not self.has_view_permission(request, pair):
            raise PermissionDenied
        return self._page(request, pair, review.ReviewForm(initial={"content": ""}))

    def settle_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Carries out the choice, then goes on to the next one of the same list."""
        pair = self._to_decide(request, object_id)
        if request.method != "POST":
            return HttpResponseRedirect(self._url("change", pair.pk, request))
        form = review.ReviewForm(request.POST)
        if not form.is_valid():
            return self._page(request, pair, form)
        queue = self._queue(request)
        try:
            told = review.carry_out(request, pair, form)
        except ConflictError as error:
            # Somebody else was quicker: nothing changed twice, and nothing typed is lost.
            messages.warning(request, f"Nothing was changed. {with_names(error.message)}")
            typed = form.cleaned_data["note"]
            if form.cleaned_data["choice"] == "merge":
                typed = form.cleaned_data["content"]
            if typed:
                messages.info(request, f"Your text was not stored: “{typed}”")
        except DomainError as error:
            form.add_error(None, error.message)
            return self._page(request, pair, form)
        else:
            if form.cleaned_data["choice"] not in review.SNOOZES:
                told = review.with_undo(told, self._url("undo", pair.pk, request))
            messages.success(request, told)
        following = queue.next_open(pair.pk)
        page = self._url("change", following, request) if following else _list_url(request)
        return HttpResponseRedirect(page)

    def undo_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Undoes its settlement, and shows it again."""
        pair = self._to_decide(request, object_id)
        if request.method == "POST":
            review.take_back(request, pair)
        return HttpResponseRedirect(self._url("change", pair.pk, request))

    def _to_decide(self, request: HttpRequest, object_id: str) -> Contradiction:
        """The contradiction that the login may decide on; nobody may on one that is not there."""
        pair = _pair(object_id)
        if pair is None or not self.has_act_permission(request, pair):
            raise PermissionDenied
        return pair

    def _page(
        self, request: HttpRequest, pair: Contradiction, form: review.ReviewForm
    ) -> HttpResponse:
        queue = self._queue(request)
        following = queue.after(pair.pk)
        start = request.GET.get("start", "both")
        context = {
            **review.review_context(pair=pair, queue=queue, form=form, start=start),
            # Without the theme's scripts for forms of rows.
            "media": forms.Media(self.Media),
            "can_act": self.has_act_permission(request, pair),
            "settle_url": self._url("settle", pair.pk, request),
            "undo_url": self._url("undo", pair.pk, request),
            "next_url": self._url("change", following[0], request) if following else "",
            "list_url": _list_url(request),
            "filters_query": self.get_preserved_filters(request),
            "start": "start" in request.GET,
        }
        template = "admin/memory/contradiction/review.html"
        return self.own_page(request, template, "Contradiction", **context)

    def _queue(self, request: HttpRequest) -> review.Queue:
        """Returns the open rows of the reviewer's list, under its filters, search and order."""
        listing = copy(request)
        listing.method = "GET"
        listing.GET = QueryDict(request.GET.get(_FILTERS, ""))
        try:
            rows = self.get_changelist_instance(listing).queryset
        except (IncorrectLookupParameters, DisallowedModelAdminLookup):
            rows = self.get_queryset(request).filter(selectors.is_waiting(timezone.now()))
        open_rows = rows.filter(resolved_at=None)
        return review.Queue(list(open_rows.values_list("pk", flat=True)[:_MAX_QUEUE]))

    def _url(self, name: str, pk: UUID, request: HttpRequest) -> str:
        url = reverse(f"admin:memory_contradiction_{name}", args=[pk])
        query = self.get_preserved_filters(request)
        return f"{url}?{query}" if query else url

    @display(description="statements")
    def statements(self, pair: Contradiction) -> SafeString:
        """Both sides, one above the other, with what differs marked."""
        second = pair.memory_b.content if pair.memory_b else ""
        one, other = settlements.aligned_excerpts(pair.memory_a.content, second, length=_CELL_CHARS)
        group = ""
        if pair.resolved_at is None and pair.group_size > 1:  # type: ignore[attr-defined]
            about = pair.memory_a.subject or "the same memory"
            group = f"{pair.group_size} about {about}"  # type: ignore[attr-defined]
        return format_html(
            '<span class="pair-cell"><span><b>A</b> {}</span><span><b>B</b> {}</span>{}</span>',
            settlements.marked(one, other) if second else one,
            settlements.marked(other, one) if second else "– reported as wrong",
            format_html('<span class="pair-group">{}</span>', group) if group else "",
        )


def _pair(object_id: str) -> Contradiction | None:
    """The contradiction of that id with its sides, in the teams that the login sees."""
    pair_id = id_in(object_id)
    return settlements.with_sides(pk=pair_id).first() if pair_id else None


def _list_url(request: HttpRequest) -> str:
    """The list that the reviewer came from, with its filters."""
    filters = request.GET.get(_FILTERS, "")
    url = reverse("admin:memory_contradiction_changelist")
    return f"{url}?{filters}" if filters else url

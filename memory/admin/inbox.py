"""The inbox: all that waits for a decision, one item after the other or several at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django_redis import get_redis_connection
from redis import RedisError

from memory.writing.decisions.undoing import ChangedSinceError
from memory.writing.secrets import masked_note, safe_statement
from teams.admin.base import id_in
from teams.admin.confirm import MAX_REASON, Change, confirm_rows
from teams.admin.display import excerpt, with_names
from teams.admin.theme import TextWidget
from teams.admin_permissions import REVIEWERS, is_member, may, sees_several_teams
from teams.errors import ConflictError, DomainError, InvalidError
from teams.middleware import outside_staff_scope
from teams.services.people import staff_name

from .items import KINDS, Choice, Item, Look, item_url, items_of
from .memory_changes import TextAreaWidget, viewer_of

TITLE = "Inbox"
CHECKED = "item"
LATER = {"day": timedelta(days=1), "week": timedelta(weeks=1)}
_LATER_WORDS = {"day": "1 day", "week": "1 week"}
_A_PAGE = 25
_MOST_STEPS = 50
_STEPS, _OPENED = "inbox_steps", "inbox_opened"
# A page that its reader left open counts as closed after this time.
_OPEN_SECONDS = 300


# -- pages -----------------------------------------------------------------------------------


class DecisionForm(forms.Form):
    """A choice among those of an item, a note, and the text of a choice that takes one."""

    choice = forms.ChoiceField()
    note = forms.CharField(required=False, max_length=MAX_REASON, widget=TextWidget)
    content = forms.CharField(
        required=False,
        max_length=settings.MAX_CONTENT_CHARS,
        widget=TextAreaWidget(attrs={"rows": 4}),
    )

    def __init__(self, choices: Sequence[Choice], *args: Any, **kwargs: Any) -> None:
        # Any: a form's own arguments
        super().__init__(*args, **kwargs)
        names = [*(each.name for each in choices), *LATER]
        self.fields["choice"].choices = [(each, each) for each in names]  # type: ignore[attr-defined]
        self._with_text = {each.name for each in choices if each.takes_text}

    def clean_content(self) -> str:
        """Returns the text with "\\n" as line ends, as a browser's form has others."""
        return "\n".join(self.cleaned_data["content"].splitlines())

    def clean_note(self) -> str:
        return masked_note(self.cleaned_data["note"])

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuses a new text without words; one typed for another choice is dropped."""
        values = super().clean() or self.cleaned_data
        if values.get("choice") not in self._with_text:
            return values | {"text": ""}
        if "content" in values:
            if not values["content"].strip():
                self.add_error("content", "Enter the new text.")
                return values
            try:
                safe_statement(text=values["content"], text_field="content")
            except InvalidError as error:
                self.add_error("content", error.message)
        return values | {"text": values.get("content", "")}


def inbox(request: HttpRequest) -> HttpResponse:
    """Shows all that waits; a POST undoes the last step, or decides several after a preview."""
    if not is_member(request):
        raise PermissionDenied
    look = Look.of(request)
    _opened(request, None)
    if request.method == "POST":
        if "undo" in request.POST:
            return HttpResponseRedirect(_undo_last(request, look))
        return _decide_several(request, look) or HttpResponseRedirect(_list(look))
    queue = look.queue()
    page = Paginator(queue.ids, _A_PAGE).get_page(request.GET.get("page"))
    items = items_of(list(page.object_list))
    openers = _openers(request, items)
    choices = {
        choice.name: choice.title
        for item in items
        for choice in item.kind.choices(item.row)
        if not choice.takes_text
    }
    later = [(name, f"Later: {words}") for name, words in _LATER_WORDS.items()]
    return _page(
        request,
        "admin/memory/inbox/list.html",
        TITLE,
        look,
        queue=queue,
        page=page,
        items=[(item, look.address(item.url), openers.get(item.pk, "")) for item in items],
        choices=[*choices.items(), *later],
        first_url=look.address(item_url(*queue.ids[0])) if queue.ids else "",
        kinds=[("", "All", sum(queue.counts.values()))]
        + [(name, kind.title, queue.counts[name]) for name, kind in KINDS.items()],
        may_act=may(request, roles=REVIEWERS),
        names_teams=sees_several_teams(request),
        checked=CHECKED,
    )


def inbox_item(request: HttpRequest, kind: str, pk: UUID) -> HttpResponse:
    """Shows an item; a POST decides it, leaves it for later or undoes its decision."""
    if not is_member(request):
        raise PermissionDenied
    found = items_of([(kind, pk)])
    if not found:
        raise Http404
    item, look = found[0], Look.of(request)
    if request.method != "POST":
        return _item_page(request, item, look, None)
    if not may(request, roles=REVIEWERS, team_id=item.team_id):
        raise PermissionDenied
    here = look.address(item.url)
    if "undo" in request.POST:
        if _undo(request, item):
            _forget(request, item)
        return HttpResponseRedirect(here)
    choices = item.kind.choices(item.row)
    form = DecisionForm(choices, request.POST)
    if not form.is_valid():
        return _item_page(request, item, look, form)
    following = look.queue().after((kind, pk))
    given = form.cleaned_data
    try:
        told = _carry_out(request, item, given["choice"], note=given["note"], text=given["text"])
    except ConflictError as error:
        # Somebody else was quicker: nothing changed twice, and nothing typed is lost.
        messages.warning(request, f"Nothing was changed: {item.named}. {with_names(error.message)}")
        if typed := given["text"] or given["note"]:
            messages.info(request, f"Your text was not stored: “{typed}”")
        return HttpResponseRedirect(here)
    except DomainError as error:
        form.add_error(None, with_names(error.message))
        return _item_page(request, item, look, form)
    _remember(request, given["choice"], [item], choices)
    messages.success(request, told or "Settled.")
    still = set(look.queue().ids)
    upcoming = next((each for each in following if each in still), None)
    return HttpResponseRedirect(look.address(item_url(*upcoming)) if upcoming else _list(look))


def _item_page(
    request: HttpRequest, item: Item, look: Look, form: DecisionForm | None
) -> HttpResponse:
    queue = look.queue()
    own = (item.kind.name, item.row.pk)
    following = queue.after(own)
    shown = item.kind.shown(request, item.row)
    choices = item.kind.choices(item.row)
    start = request.GET.get("start", "")
    if form is None:
        content = shown.starts.get(start) or next(reversed(list(shown.starts.values())), "")
        form = DecisionForm(choices, initial={"content": content})
    can_act = may(request, roles=REVIEWERS, team_id=item.team_id)
    return _page(
        request,
        "admin/memory/inbox/item.html",
        item.kind.title,
        look,
        item=item,
        shown=shown,
        sides=shown.sides,
        form=form,
        here=look.address(item.url),
        starts=[
            (name, look.address(item.url, start=name), text) for name, text in shown.starts.items()
        ],
        start=bool(start),
        choices=[each for each in choices if not each.takes_text],
        texted=next((each for each in choices if each.takes_text), None),
        later_until=item.kind.later_until(item.row),
        place=queue.place_of(own),
        queue=queue,
        next_url=look.address(item_url(*following[0])) if following else "",
        can_act=can_act,
        can_decide=can_act and not shown.settled and not shown.refusal,
        opener=_opened(request, item),
    )


def _page(
    request: HttpRequest, template: str, title: str, look: Look, **context: Any
) -> HttpResponse:  # Any: a template's context
    steps = request.session.get(_STEPS, [])
    frame = {
        **admin.site.each_context(request),
        "title": title,
        "look": look,
        "list_url": _list(look),
        "later_url": look.address(reverse("inbox"), later="1"),
        "waiting_url": look.address(reverse("inbox"), later=""),
        "last_step": steps[-1] if steps else None,
        "steps": len(steps),
    }
    return TemplateResponse(request, template, frame | context)


def _list(look: Look) -> str:
    return look.address(reverse("inbox"))


# -- deciding --------------------------------------------------------------------------------


def _carry_out(
    request: HttpRequest, item: Item, choice: str, *, note: str, text: str = ""
) -> str | None:
    """Carries out the choice and returns what became of it; raises a DomainError if refused."""
    if choice not in LATER:
        return item.kind.decide(request, item.row, choice=choice, note=note, text=text)
    viewer, until = viewer_of(request, item.row), timezone.now() + LATER[choice]
    with outside_staff_scope(request):
        item.kind.leave(viewer, item.row, until)
    return f"Left for later ({_LATER_WORDS[choice]}): {item.named}."


def _decide_several(request: HttpRequest, look: Look) -> HttpResponse | None:
    """Asks first and says what becomes of each item, then decides; None when that is done."""
    choice = request.POST.get("choice", "") or request.POST.get("action", "")
    chosen = [each.partition(":") for each in request.POST.getlist(CHECKED)]
    ids = [(kind, pk) for kind, _, text in chosen if (pk := id_in(text))]
    items = items_of(list(dict.fromkeys(ids)))
    offered = {
        each.pk: {one.name: one.title for one in each.kind.choices(each.row) if not one.takes_text}
        for each in items
    }
    fit = [each for each in items if choice in LATER or choice in offered[each.pk]]
    if not fit:
        messages.warning(request, "Nothing was changed: select items that have this decision.")
        return None
    done: list[Item] = []

    def apply(_: HttpRequest, item: Any, note: str) -> str | None:
        told = _carry_out(request, item, choice, note=masked_note(note))
        done.append(item)
        return told

    title = f"Later: {_LATER_WORDS[choice]}" if choice in LATER else offered[fit[0].pk][choice]
    left = len(items) - len(fit)
    change: Change[Any] = Change(  # Any: rows of several kinds
        verb=title,
        done="left for later" if choice in LATER else "decided",
        explanation=f"Selected items without this decision stay as they are: {left}."
        if left
        else "Each can be undone afterwards.",
        apply=apply,
        asks_reason=choice not in LATER,
        effect=lambda item: item.named if choice in LATER else item.kind.effect(item.row, choice),
        name=lambda item: item.named,
    )
    asked = confirm_rows(
        request,
        fit,
        change,
        counted=lambda count: f"{count} {'item' if count == 1 else 'items'}",
        page=partial(_confirm_page, request, look),
        action=choice,
        checkbox=CHECKED,
    )
    if done:
        _remember(request, choice, done, done[0].kind.choices(done[0].row))
    return asked


def _confirm_page(
    request: HttpRequest, look: Look, template: str, title: str, **context: Any
) -> HttpResponse:  # Any: a template's context
    return _page(request, template, title, look, **context)


# -- undoing ---------------------------------------------------------------------------------


def _remember(
    request: HttpRequest, choice: str, items: Sequence[Item], choices: Sequence[Choice]
) -> None:
    """Keeps the step in the reviewer's session, without a word of what the items say."""
    titles = {each.name: each.title for each in choices}
    title = titles.get(choice) or f"Later: {_LATER_WORDS[choice]}"
    step = {
        "id": uuid4().hex,
        "title": title if len(items) == 1 else f"{title} ({len(items)})",
        "is_later": choice in LATER,
        "items": [each.pk for each in items],
    }
    request.session[_STEPS] = [*request.session.get(_STEPS, []), step][-_MOST_STEPS:]


def _forget(request: HttpRequest, item: Item) -> None:
    """Takes an item that was undone on its own page out of the steps."""
    steps = [
        {**each, "items": [one for one in each["items"] if one != item.pk]}
        for each in request.session.get(_STEPS, [])
    ]
    request.session[_STEPS] = [each for each in steps if each["items"]]


def _undo_last(request: HttpRequest, look: Look) -> str:
    """Undoes the last step of the session, if the page showed this one; returns where to go."""
    steps = request.session.get(_STEPS, [])
    if not steps:
        messages.info(request, "There is nothing to undo.")
        return _list(look)
    *rest, step = steps
    if request.POST["undo"] != step.get("id", ""):
        messages.warning(request, "Not undone: you have decided something else since.")
        return _list(look)
    ids = [(kind, UUID(pk)) for kind, _, pk in (each.partition(":") for each in step["items"])]
    items = items_of(ids)
    scope: Any = request.staff_scope  # type: ignore[attr-defined]  # the middleware's
    with scope.of_all():
        is_hidden = len(items_of(ids)) > len(items)
    if is_hidden:
        messages.warning(request, "Not undone: it belongs to a team that is not shown.")
        return _list(look)
    for item in reversed(items):
        _undo(request, item, is_later=step["is_later"], is_own=True)
    request.session[_STEPS] = rest
    return look.address(items[0].url) if len(items) == 1 else _list(look)


def _undo(
    request: HttpRequest, item: Item, *, is_later: bool = False, is_own: bool = False
) -> bool:
    """Undoes a decision with a message; with `is_own` only one that the login made."""
    if not may(request, roles=REVIEWERS, team_id=item.team_id):
        raise PermissionDenied
    viewer = viewer_of(request, item.row)
    decider = item.kind.decided_by(item.row)
    refusal = ""
    try:
        if is_own and decider != ("" if is_later else viewer.actor):
            told = f"by {decider}" if decider else "it is open again already"
            refusal = f"your decision no longer stands ({with_names(told)})"
        else:
            with outside_staff_scope(request):
                if is_later:
                    item.kind.leave(viewer, item.row, None)
                    told = f"{item.named} is no longer left for later."
                else:
                    told = item.kind.undo(viewer, item.row, timezone.now())
            messages.success(request, f"Undone: {told}")
            return True
    except ChangedSinceError as error:
        changed = "; ".join(
            f"“{excerpt(each.memory.content, 60)}” {each.how}" for each in error.changed
        )
        refusal = f"memories have changed since: {changed}"
    except DomainError as error:
        refusal = with_names(error.message).rstrip(".")
    messages.warning(request, f"Not undone: {item.named}, because {refusal}.")
    return False


# -- what colleagues have open ---------------------------------------------------------------


def _opened(request: HttpRequest, item: Item | None) -> str:
    """Notes what the login has open now, and returns the name of a colleague who has it open.

    Without Redis nobody is shown.
    """
    mine = request.user.get_username()
    with suppress(RedisError):
        client = get_redis_connection("default")
        before, now = request.session.get(_OPENED, ""), _key(item) if item else ""
        if before != now:
            if before and client.get(before) == mine.encode():
                client.delete(before)
            request.session[_OPENED] = now
        if item is not None and not client.set(now, mine, nx=True, ex=_OPEN_SECONDS):
            holder = client.get(now)
            if holder and holder.decode() != mine:
                return staff_name(holder.decode())
            client.expire(now, _OPEN_SECONDS)
    return ""


def _openers(request: HttpRequest, items: Sequence[Item]) -> dict[str, str]:
    """Returns the names of colleagues who have one of the items open."""
    mine = request.user.get_username()
    if not items:
        return {}
    with suppress(RedisError):
        holders = get_redis_connection("default").mget([_key(each) for each in items])
        names = {
            item.pk: holder.decode() for item, holder in zip(items, holders, strict=True) if holder
        }
        return {pk: staff_name(name) for pk, name in names.items() if name != mine}
    return {}


def _key(item: Item) -> str:
    return f"{settings.REDIS_PREFIX}:inbox:{item.team_id}:{item.row.pk}"

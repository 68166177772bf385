"""The inbox: all that waits for a decision, one item after the other or several at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
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
from memory.writing.secrets import masked_note
from teams.admin.base import id_in
from teams.admin.confirm import MAX_REASON, Change, confirm_rows
from teams.admin.display import as_sentence, excerpt, minute, with_names
from teams.admin.theme import TextWidget
from teams.admin_permissions import REVIEWERS, is_member, may, sees_several_teams
from teams.errors import ConflictError, DomainError
from teams.middleware import outside_staff_scope
from teams.services.people import staff_name

from .items import KINDS, Choice, Item, Look, changed_since, fingerprint, item_url, items_of
from .memory_changes import NewTextForm, viewer_of

TITLE = "Inbox"
CHECKED, SHOWN = "item", "shown"
_A_PAGE = 25
_MOST_STEPS = 50
_STEPS, _OPENED = "inbox_steps", "inbox_opened"
# A page that its reader left open counts as closed after this time.
_OPEN_SECONDS = 300


# -- pages -----------------------------------------------------------------------------------


class DecisionForm(NewTextForm):
    """A choice among those of an item, a note, and the text of a choice that takes one."""

    choice = forms.ChoiceField(
        error_messages={
            "required": "Choose a decision.",
            "invalid_choice": "This decision is not possible here.",
        }
    )
    note = forms.CharField(required=False, max_length=MAX_REASON, widget=TextWidget)
    reason = None  # type: ignore[assignment]  # so Django leaves out an inherited field

    def __init__(self, choices: Sequence[Choice], *args: Any, **kwargs: Any) -> None:
        # Any: a form's own arguments
        super().__init__(*args, **kwargs)
        names = [(each.name, each.name) for each in choices]
        self.fields["choice"].choices = names  # type: ignore[attr-defined]
        given = self.data.get("choice")
        self.fields["content"].required = given in [one.name for one in choices if one.takes_text]

    def clean_content(self) -> str:
        """Drops a text that was typed for another choice."""
        return super().clean_content() if self.fields["content"].required else ""

    def clean_note(self) -> str:
        return masked_note(self.cleaned_data["note"])


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
    offered = [each for item in items for each in item.choices() if not each.takes_text]
    choices = sorted(offered, key=lambda each: bool(each.delay))
    return _page(
        request,
        look,
        "admin/memory/inbox/list.html",
        TITLE,
        queue=queue,
        page=page,
        items=[(item, look.address(item.url), openers.get(item.pk, "")) for item in items],
        choices=list({each.name: each.title for each in choices}.items()),
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
    if "undo" in request.POST:
        if _undo(request, item):
            _forget(request, item)
        return HttpResponseRedirect(look.address(item.url))
    choices = {each.name: each for each in item.choices()}
    form = DecisionForm(list(choices.values()), request.POST)
    if not form.is_valid():
        return _item_page(request, item, look, form)
    following = look.queue().after((kind, pk))
    given = form.cleaned_data
    choice = choices[given["choice"]]
    try:
        changed = changed_since(request.POST.get(SHOWN, ""), item.shown(request).parts)
        if changed and not item.decided_by:
            names = ", ".join(f"“{each}”" for each in changed)
            raise ConflictError(f"Changed since you opened the page: {names}. Look at it again.")
        told = _carry_out(request, item, choice, note=given["note"], text=given["content"])
    except DomainError as error:
        # Nothing typed is lost: the form comes back below what is true now.
        said = as_sentence(f"Nothing was changed: {item.named}")
        refusal = f"{said} {with_names(error.message)}"
        form.add_error(None, refusal)
        return _item_page(request, (items_of([(kind, pk)]) or found)[0], look, form)
    if told:
        _remember(request, choice, [item])
        messages.success(request, told)
    still = set(look.queue().ids)
    upcoming = next((each for each in following if each in still), None)
    return HttpResponseRedirect(look.address(item_url(*upcoming)) if upcoming else _list(look))


def _item_page(
    request: HttpRequest, item: Item[Any], look: Look, form: DecisionForm | None
) -> HttpResponse:
    queue = look.queue()
    own = (item.kind, item.row.pk)
    following = queue.after(own)
    shown = item.shown(request)
    choices = item.choices()
    start = request.GET.get("start", "")
    if form is None:
        content = shown.starts.get(start) or next(reversed(list(shown.starts.values())), "")
        form = DecisionForm(choices, initial={"content": content})
    texted = next((each for each in choices if each.takes_text), None)
    is_writing = bool(start) or (texted is not None and form["choice"].value() == texted.name)
    can_act = may(request, roles=REVIEWERS, team_id=item.team_id)
    can_decide = can_act and not shown.settled and not shown.refusal
    until = item.row.snoozed_until
    return _page(
        request,
        look,
        "admin/memory/inbox/item.html",
        item.title,
        item=item,
        shown=shown,
        fingerprint=fingerprint(shown.parts),
        sides=shown.sides,
        form=form,
        here=look.address(item.url),
        starts=[
            (name, look.address(item.url, start=name), text) for name, text in shown.starts.items()
        ],
        is_writing=is_writing,
        choices=[each for each in choices if not each.takes_text],
        texted=texted,
        later_until=until if until and until > timezone.now() else None,
        place=queue.place_of(own),
        queue=queue,
        next_url=look.address(item_url(*following[0])) if following else "",
        can_act=can_act,
        can_decide=can_decide,
        has_form=can_decide or (form.is_bound and (is_writing or form["note"].value())),
        opener=_opened(request, item),
    )


def _page(
    request: HttpRequest, look: Look, template: str, title: str, **context: Any
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
    request: HttpRequest, item: Item[Any], choice: Choice, *, note: str, text: str = ""
) -> str:
    """Carries out the choice and returns what became of it; raises a DomainError if refused."""
    if choice.delay is None:
        return item.decide(request, choice.name, note=note, text=text)
    viewer, until = viewer_of(request, item.row), timezone.now() + choice.delay
    with outside_staff_scope(request):
        item.leave(viewer, until)
    return f"Left for later until {minute(until)}: {item.named}"


def _decide_several(request: HttpRequest, look: Look) -> HttpResponse | None:
    """Asks first and says what becomes of each item, then decides; None when that is done."""
    name = request.POST.get("choice", "") or request.POST.get("action", "")
    chosen = [each.partition(":") for each in request.POST.getlist(CHECKED)]
    ids = [(kind, pk) for kind, _, text in chosen if (pk := id_in(text))]
    items = items_of(list(dict.fromkeys(ids)))
    offered = [(item, each) for item in items for each in item.choices() if each.name == name]
    fit = [item for item, choice in offered if not choice.takes_text]
    if not fit:
        messages.warning(request, "Nothing was changed: select items that have this decision.")
        return None
    choice = offered[0][1]
    effects = {each.pk: each.named if choice.delay else each.effect(name) for each in fit}
    changed = changed_since(request.POST.get(SHOWN, ""), effects)
    done: list[Item[Any]] = []

    def apply(_: HttpRequest, item: Any, note: str) -> str | None:
        if item.pk in changed and not item.decided_by:
            raise ConflictError("It has changed since you opened the page.")
        told = _carry_out(request, item, choice, note=masked_note(note))
        done.extend([item] if told else [])
        return told

    left = len(items) - len(fit)
    change: Change[Any] = Change(  # Any: rows of several kinds
        verb=choice.title,
        done="left for later" if choice.delay else "decided",
        explanation=f"Items that cannot be decided this way, and stay open: {left}."
        if left
        else "Each can be undone afterwards.",
        apply=apply,
        asks_reason=not choice.delay,
        effect=lambda item: effects[item.pk],
        name=lambda item: item.named,
    )
    asked = confirm_rows(
        request,
        fit,
        change,
        counted=lambda count: f"{count} {'item' if count == 1 else 'items'}",
        page=partial(_page, request, look, fingerprint=fingerprint(effects), is_decision=True),
        action=name,
        checkbox=CHECKED,
    )
    if done:
        _remember(request, choice, done)
    return asked


# -- undoing ---------------------------------------------------------------------------------


def _remember(request: HttpRequest, choice: Choice, items: Sequence[Item[Any]]) -> None:
    """Keeps the step in the reviewer's session, without a word of what the items say."""
    step = {
        "id": uuid4().hex,
        "title": choice.title if len(items) == 1 else f"{choice.title} ({len(items)})",
        "is_later": choice.delay is not None,
        "items": [each.pk for each in items],
    }
    request.session[_STEPS] = [*request.session.get(_STEPS, []), step][-_MOST_STEPS:]


def _forget(request: HttpRequest, item: Item[Any]) -> None:
    """Takes an item that was undone on its own page out of the steps."""
    steps = [
        {**each, "items": [one for one in each["items"] if one != item.pk]}
        for each in request.session.get(_STEPS, [])
    ]
    request.session[_STEPS] = [each for each in steps if each["items"]]


def _undo_last(request: HttpRequest, look: Look) -> str:
    """Undoes the last step of the session, if the page showed this one; returns where to go."""
    steps = request.session.get(_STEPS, [])
    if request.POST["undo"] not in [each["id"] for each in steps]:
        messages.info(request, "There is nothing to undo: it was undone already.")
        return _list(look)
    *rest, step = steps
    if request.POST["undo"] != step["id"]:
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
    request: HttpRequest, item: Item[Any], *, is_later: bool = False, is_own: bool = False
) -> bool:
    """Undoes a decision with a message; with `is_own` only one that the login made."""
    if not may(request, roles=REVIEWERS, team_id=item.team_id):
        raise PermissionDenied
    viewer = viewer_of(request, item.row)
    decider = item.decided_by
    try:
        if is_own and decider != ("" if is_later else viewer.actor):
            told = f"by {decider}" if decider else "it is open again already"
            raise ConflictError(f"your decision no longer stands ({told})")
        with outside_staff_scope(request):
            if is_later:
                item.leave(viewer, None)
                told = f"{item.named} is no longer left for later."
            else:
                told = item.undo(viewer, timezone.now())
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


def _opened(request: HttpRequest, item: Item[Any] | None) -> str:
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


def _openers(request: HttpRequest, items: Sequence[Item[Any]]) -> dict[str, str]:
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


def _key(item: Item[Any]) -> str:
    return f"{settings.REDIS_PREFIX}:inbox:{item.team_id}:{item.row.pk}"

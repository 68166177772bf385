"""Actions on a memory, and the page that corrects it; each calls a service that the API has too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from memory.domain.artifacts import payload_reworded
from memory.domain.audience import Viewer
from memory.domain.judgements import Feedback
from memory.domain.types import Scope, Status
from memory.models import Memory
from memory.selectors.memories import current_version
from memory.understanding.tools import default_tools
from memory.writing.decisions.changes import (
    archive_memory,
    correct_memory,
    delete_memory,
    give_feedback,
    pin_memory,
)
from memory.writing.decisions.moving import Move, move_memory, restore_memory
from memory.writing.drafts import Outcome, WriteResult
from memory.writing.secrets import SafeStatement, masked_note, safe_statement
from teams.admin.base import TeamAdmin
from teams.admin.confirm import MAX_REASON, Change
from teams.admin.conversations import quotes_of
from teams.admin.display import excerpt, page_of, page_of_row
from teams.admin.theme import TextWidget
from teams.errors import DomainError, InvalidError
from teams.middleware import outside_staff_scope
from teams.models.base import TeamOwned

from .memory_list import status_words


def viewer_of(request: HttpRequest, row: TeamOwned) -> Viewer:
    """Returns the login as a member of the row's team."""
    return Viewer(team_id=row.team_id, actor=f"staff:{request.user.get_username()}")


def current_page(memory_id: str) -> str:
    """Returns the address of the page of the current version of the memory's chain."""
    memory = Memory.objects.filter(pk=memory_id).first()
    return page_of("memory_memory", current_version(memory).pk if memory else memory_id)


def _change(verb: str, done: str, explanation: str, service: Callable[..., Any]) -> Change[Memory]:
    """The change by a service of a viewer, a memory's id and a reason; it may return a sentence."""

    def apply(request: HttpRequest, memory: Memory, reason: str) -> str | None:
        viewer = viewer_of(request, memory)
        # It may ask a model, for which no transaction should wait.
        with outside_staff_scope(request):
            told = service(viewer=viewer, memory_id=memory.pk, reason=reason)
        return told if isinstance(told, str) else None

    return Change(
        verb=verb,
        done=done,
        explanation=explanation,
        apply=apply,
        asks_reason=True,
        effect=lambda memory: f"“{memory.content}”",
    )


def _give(**asked: Any) -> None:  # Any: who, which memory and why
    move = Move(scope=Scope.TEAM, is_agreed=True)
    move_memory(move=move, tools=default_tools(), **asked)


def _restore(**asked: Any) -> str:  # Any: as above
    restored = restore_memory(tools=default_tools(), **asked)
    if restored.status == Status.DISPUTED:
        return "It is in dispute again."
    is_older = restored.status == Status.SUPERSEDED
    return "It has a newer version, so it was restored as an older version." if is_older else ""


def _dispute(*, reason: str, **asked: Any) -> str:  # Any: as above
    give_feedback(signal=Feedback.WRONG, note=reason, **asked)
    return "It is now in the inbox."


PIN = _change(
    "Pin",
    "pinned",
    "A pinned memory is part of every prompt for those who can see it.",
    partial(pin_memory, pinned=True),
)
UNPIN = _change(
    "Unpin",
    "unpinned",
    "It is only part of a prompt if it is relevant.",
    partial(pin_memory, pinned=False),
)
ARCHIVE = _change(
    "Archive",
    "archived",
    "It is left out of prompts; only searches that include past memories find it. Its open"
    " contradictions are closed. It can be restored.",
    archive_memory,
)
DELETE = _change(
    "Delete",
    "deleted",
    "Agents no longer find it, and its open contradictions are closed. Its text and history stay,"
    " and it can be restored on its page.",
    delete_memory,
)
RESTORE = _change(
    "Restore", "restored", "Agents find it again. If it was pinned, it is pinned again.", _restore
)
GIVE = _change(
    "Share with the team",
    "shared with the team",
    "All agents can use it for everybody. It no longer belongs to one person.",
    _give,
)
DISPUTE = _change(
    "Dispute",
    "disputed",
    "It is marked as disputed for agents and ranks lower until somebody settles it in the inbox.",
    _dispute,
)


class TextAreaWidget(TextWidget):
    """The theme's input over several lines."""

    template_name = "django/forms/widgets/textarea.html"


class NewTextForm(forms.Form):
    """The text of a memory, and why; `stored` is the text with secrets masked."""

    content = forms.CharField(
        max_length=settings.MAX_CONTENT_CHARS,
        error_messages={"required": "Enter the new text."},
        widget=TextAreaWidget(attrs={"rows": 5}),
    )
    reason = forms.CharField(required=False, max_length=MAX_REASON, widget=TextWidget)
    stored = SafeStatement("")

    def clean_content(self) -> str:
        """Returns the text with "\\n" as line ends; refuses one without words."""
        text = "\n".join(self.cleaned_data["content"].splitlines())
        try:
            self.stored = safe_statement(text=text, text_field="content")
        except InvalidError as error:
            raise forms.ValidationError(error.message) from error
        return text

    def clean_reason(self) -> str:
        return masked_note(self.cleaned_data["reason"])


def correct_page(
    model_admin: TeamAdmin[Memory], request: HttpRequest, memory: Memory
) -> HttpResponse:
    """Asks for the right text, shows a preview, then stores it in place of the memory.

    If the correction is refused, the form comes back as it was filled in.
    """
    refusal = ""
    if not memory.is_live:
        refusal = f"The memory is now {status_words(memory.status)} and cannot be corrected."
        if request.method != "POST":
            messages.warning(request, refusal)
            return HttpResponseRedirect(current_page(str(memory.pk)))
    form = NewTextForm(request.POST or None, initial={"content": memory.content})
    is_filled = form.is_valid() and "edit" not in request.POST and not refusal
    if is_filled and request.POST.get("confirmed") == "yes":
        try:
            _correct(request, memory, **form.cleaned_data)
        except DomainError as error:
            form.add_error(None, error.message)
            is_filled = False
        else:
            return HttpResponseRedirect(current_page(str(memory.pk)))
    return model_admin.own_page(
        request,
        "admin/memory/correct.html",
        "Correct memory",
        page=page_of_row(memory),
        original=memory,
        memory=memory,
        quotes=quotes_of(memory.source_message_ids[-2:], team_id=memory.team_id),
        form=form,
        is_preview=is_filled,
        refusal=refusal,
    )


def _correct(request: HttpRequest, memory: Memory, *, content: str, reason: str) -> None:
    viewer = viewer_of(request, memory)
    reworded = payload_reworded(memory.form, memory.payload, text=memory.content, words=content)
    # The page asks for a text; a payload that says otherwise must not stay beside it.
    drops_form = bool(memory.form) and content != memory.content and reworded is None
    # It embeds the text and may ask a model, for which no transaction should wait.
    with outside_staff_scope(request):
        written = correct_memory(
            viewer=viewer,
            memory_id=memory.pk,
            corrected_content=content,
            reason=reason,
            tools=default_tools(),
            now=timezone.now(),
            drops_form=drops_form,
        )
    tell_of_written(request, written)
    if written.outcome == Outcome.HELD:
        return
    if drops_form:
        messages.info(
            request,
            f"The new version is plain text: the fields of the {memory.form} stay with the previous"
            " version.",
        )
    replaced = excerpt(memory.content, 60)
    messages.success(request, f"Correction saved. It replaces “{replaced}”")


def tell_of_written(request: HttpRequest, written: WriteResult) -> None:
    """Adds messages on what a reviewer would not expect of a text that replaced another."""
    if written.secret_masked:
        messages.warning(request, "A key, password or card number in the text was masked.")
    if written.outcome == Outcome.HELD:
        messages.warning(
            request,
            "It changes a profile field of a person or a preference of the team, so somebody else"
            " must approve it in the inbox. Until then the current text is used.",
        )
    if written.outcome == Outcome.DUPLICATE:
        messages.info(request, "Another memory already says this and replaces this one.")
    if written.memory.status == Status.DISPUTED:
        messages.warning(request, "The new text is in dispute with another memory.")

"""What the admin may do to a memory; each is one call of the service that the API calls too."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.http import HttpRequest
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.judgements import Feedback
from memory.domain.types import Scope, Status
from memory.models import Memory
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
from teams.admin.confirm import Apply, Change
from teams.admin.display import excerpt
from teams.middleware import outside_staff_scope


def _viewer(request: HttpRequest, memory: Memory) -> Viewer:
    return Viewer(team_id=memory.team_id, actor=f"staff:{request.user.get_username()}")


def _pin(request: HttpRequest, memory: Memory, reason: str, *, pinned: bool) -> None:
    viewer = _viewer(request, memory)
    with outside_staff_scope(request):
        pin_memory(viewer=viewer, memory_id=memory.pk, pinned=pinned, reason=reason)


def _delete(request: HttpRequest, memory: Memory, reason: str) -> None:
    viewer = _viewer(request, memory)
    with outside_staff_scope(request):
        delete_memory(viewer=viewer, memory_id=memory.pk, reason=reason)


def _archive(request: HttpRequest, memory: Memory, reason: str) -> None:
    viewer = _viewer(request, memory)
    with outside_staff_scope(request):
        archive_memory(viewer=viewer, memory_id=memory.pk, reason=reason)


def _give(request: HttpRequest, memory: Memory, reason: str) -> None:
    viewer = _viewer(request, memory)
    # It may ask a model, for which no transaction should wait.
    with outside_staff_scope(request):
        move_memory(
            viewer=viewer,
            memory_id=memory.pk,
            move=Move(scope=Scope.TEAM, is_agreed=True),
            tools=default_tools(),
            reason=reason,
        )


def _restore(request: HttpRequest, memory: Memory, reason: str) -> str | None:
    viewer = _viewer(request, memory)
    with outside_staff_scope(request):
        restored = restore_memory(
            viewer=viewer, memory_id=memory.pk, reason=reason, tools=default_tools()
        )
    return {
        Status.DISPUTED.value: "It is in dispute again; its page names the other side.",
        Status.SUPERSEDED.value: "A newer version stands, so it is an older version again.",
    }.get(restored.status)


def _say_wrong(request: HttpRequest, memory: Memory, reason: str) -> str:
    viewer = _viewer(request, memory)
    with outside_staff_scope(request):
        give_feedback(viewer=viewer, memory_id=memory.pk, signal=Feedback.WRONG, note=reason)
    return "It is listed under Contradictions until somebody settles it."


def _correct(request: HttpRequest, memory: Memory, reason: str, *, content: str) -> str:
    viewer = _viewer(request, memory)
    # It embeds the text and may ask a model, for which no transaction should wait.
    with outside_staff_scope(request):
        written = correct_memory(
            viewer=viewer,
            memory_id=memory.pk,
            corrected_content=content,
            reason=reason,
            tools=default_tools(),
            now=timezone.now(),
            # The page asks for a text; a payload that says otherwise must not stay beside it.
            drops_form=content != memory.content,
        )
    tell_of_written(request, written)
    if memory.form and written.outcome != Outcome.HELD:
        messages.info(
            request,
            f"The new text stands alone: the {memory.form} and its payload stay with the version"
            " before.",
        )
    if written.outcome == Outcome.HELD:
        return ""
    return f"It replaces “{excerpt(memory.content, 60)}”"


def tell_of_written(request: HttpRequest, written: WriteResult) -> None:
    """Say what a reviewer would not expect of a text that was written in place of another."""
    if written.secret_masked:
        messages.warning(request, "A key, password or card number in the text was masked.")
    if written.outcome == Outcome.HELD:
        messages.warning(
            request,
            "It changes a profile field of a person or what the team prefers, so it waits for a yes"
            " of somebody else under Consent requests; until then the present text stands.",
        )
    if written.outcome == Outcome.DUPLICATE:
        messages.info(request, "Another memory already says this and replaces this one.")
    if written.memory.status == Status.DISPUTED:
        messages.warning(request, "The new text is in dispute with another memory.")


def correcting(content: str) -> Change[Memory]:
    """The change that writes `content` in place of a memory."""
    return Change(
        verb="Correct",
        done="corrected",
        explanation=(
            "It replaces the wrong text, which stays in the history as an earlier version."
        ),
        apply=partial(_correct, content=content),
    )


def _whole(memory: Memory) -> str:
    return f"“{memory.content}”"


def _change(verb: str, done: str, explanation: str, apply: Apply[Memory]) -> Change[Memory]:
    return Change(
        verb=verb,
        done=done,
        explanation=explanation,
        apply=apply,
        asks_reason=True,
        effect=_whole,
    )


PIN = _change(
    "Pin",
    "pinned",
    "A pinned memory is in every prompt of those who may see it.",
    partial(_pin, pinned=True),
)
UNPIN = _change(
    "Unpin",
    "unpinned",
    "It competes with the others for a place in the prompt again.",
    partial(_pin, pinned=False),
)
ARCHIVE = _change(
    "Archive",
    "archived",
    "Prompts leave it out; a search of what was still finds it. Its open disputes end, and it can"
    " be restored.",
    _archive,
)
DELETE = _change(
    "Delete",
    "deleted",
    "Agents will not find it any more and its open disputes end."
    " Its text and its history stay here, and it can be restored on its page.",
    _delete,
)
RESTORE = _change(
    "Restore",
    "restored",
    "Agents find it again, pinned if it was.",
    _restore,
)
GIVE = _change(
    "Give to the team",
    "given to the team",
    "All agents may tell it to everybody. It no longer belongs to one person.",
    _give,
)
SAY_WRONG = _change(
    "Dispute",
    "disputed",
    "Agents see it as disputed and it ranks lower. It waits under Contradictions until somebody"
    " settles the dispute.",
    _say_wrong,
)

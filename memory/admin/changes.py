"""What the admin may do to a memory; each is one call of the service that the API calls too."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.http import HttpRequest
from django.utils import timezone

from memory.clients.tools import default_tools
from memory.domain.feedback import Feedback
from memory.domain.types import Status
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.deciding.corrections import correct_memory, give_feedback
from memory.services.deciding.restoring import restore_memory
from memory.services.deciding.state import delete_memory, pin_memory
from memory.services.writing.drafts import Outcome, WriteResult
from teams.admin.confirm import Change
from teams.admin.display import excerpt
from teams.middleware import outside_staff_scope


def _viewer(request: HttpRequest, memory: Memory) -> Viewer:
    return Viewer(team_id=memory.team_id, actor=f"staff:{request.user.get_username()}")


def _pin(request: HttpRequest, memory: Memory, reason: str) -> None:
    viewer = _viewer(request, memory)
    with outside_staff_scope(request):
        pin_memory(viewer=viewer, memory_id=memory.pk, pinned=True, reason=reason)


def _unpin(request: HttpRequest, memory: Memory, reason: str) -> None:
    viewer = _viewer(request, memory)
    with outside_staff_scope(request):
        pin_memory(viewer=viewer, memory_id=memory.pk, pinned=False, reason=reason)


def _delete(request: HttpRequest, memory: Memory, reason: str) -> None:
    viewer = _viewer(request, memory)
    with outside_staff_scope(request):
        delete_memory(viewer=viewer, memory_id=memory.pk, reason=reason)


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
    return "It waits under Contradictions for somebody to settle it."


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
        )
    tell_of_written(request, written)
    return f"It stands in place of “{excerpt(memory.content, 60)}”"


def tell_of_written(request: HttpRequest, written: WriteResult) -> None:
    """Say what a reviewer would not expect of a text that was written in place of another."""
    if written.secret_masked:
        messages.warning(request, "A key, password or card number in the text was masked.")
    if written.outcome == Outcome.DUPLICATE:
        messages.info(request, "Another memory says so already; it stands in place of this.")
    if written.memory.status == Status.DISPUTED:
        messages.warning(request, "The text stands in dispute with another memory.")


def correcting(content: str) -> Change[Memory]:
    """The change that writes `content` in place of a memory."""
    return Change(
        verb="Correct",
        done="corrected",
        explanation=(
            "It stands in place of what is wrong, which stays in the history as its earlier"
            " version."
        ),
        apply=partial(_correct, content=content),
    )


def _whole(memory: Memory) -> str:
    return f"“{memory.content}”"


PIN: Change[Memory] = Change(
    verb="Pin",
    done="pinned",
    explanation="A pinned memory stands in every prompt of its audience.",
    apply=_pin,
    asks_reason=True,
    effect=_whole,
)
UNPIN: Change[Memory] = Change(
    verb="Unpin",
    done="unpinned",
    explanation="It competes with the others for a place in the prompt again.",
    apply=_unpin,
    asks_reason=True,
    effect=_whole,
)
DELETE: Change[Memory] = Change(
    verb="Delete",
    done="deleted",
    explanation=(
        "Agents will not find it any more and its open disputes end."
        " Its text and its history stay here, and it can be restored on its page."
    ),
    apply=_delete,
    asks_reason=True,
    effect=_whole,
)
RESTORE: Change[Memory] = Change(
    verb="Restore",
    done="restored",
    explanation="Agents find it again. A pin that it had is not brought back.",
    apply=_restore,
    asks_reason=True,
    effect=_whole,
)
SAY_WRONG: Change[Memory] = Change(
    verb="Say it is wrong",
    done="disputed",
    explanation=(
        "Agents are shown it as disputed, it counts for less, and it waits under Contradictions"
        " until somebody settles whether it stands."
    ),
    apply=_say_wrong,
    asks_reason=True,
    effect=_whole,
)

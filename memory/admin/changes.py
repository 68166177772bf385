"""What the admin may do to a memory; each is one call of the service that the API calls too."""

from __future__ import annotations

from django.http import HttpRequest

from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.deciding.state import delete_memory, pin_memory
from teams.admin.confirm import Change
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


PIN: Change[Memory] = Change(
    verb="Pin",
    done="pinned",
    explanation="A pinned memory stands in every prompt of its audience.",
    apply=_pin,
    asks_reason=True,
)
UNPIN: Change[Memory] = Change(
    verb="Unpin",
    done="unpinned",
    explanation="It competes with the others for a place in the prompt again.",
    apply=_unpin,
    asks_reason=True,
)
DELETE: Change[Memory] = Change(
    verb="Delete",
    done="deleted",
    explanation=(
        "Agents will not find it any more and its open disputes end."
        " Its text and its history stay here."
    ),
    apply=_delete,
    asks_reason=True,
)

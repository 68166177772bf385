"""Consent requests on the admin's first page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from memory.admin.feed import OF_EACH, SOURCES, Happening
from memory.admin.home import KINDS, Kind
from memory.satellites.consent.models import ConsentRequest
from teams.admin.display import actor_words, excerpt, page_of_row

_CONSENT = {
    ConsentRequest.State.WAITING.value: "asks for consent",
    ConsentRequest.State.APPROVED.value: "approved",
    ConsentRequest.State.REJECTED.value: "rejected",
    ConsentRequest.State.EXPIRED.value: "let expire",
}


def requests_lately(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    rows = ConsentRequest.objects.filter(team_id__in=team_ids).select_related("end_user")
    for request in rows.order_by("-created_at")[:OF_EACH]:
        yield Happening(
            at=request.decided_at or request.created_at,
            team_id=request.team_id,
            who=actor_words(request.decided_by or request.proposed_by),
            did=_CONSENT[request.state],
            about=f"for {request.end_user or 'the team'}: “{excerpt(request.content)}”",
            url=page_of_row(request),
            key=("consent", request.pk),
            icon="how_to_reg",
            reason=request.note,
        )


SOURCES.append(requests_lately)
KINDS.append(
    Kind(
        "Consent requests",
        "consent_consentrequest",
        "state=waiting",
        lambda: ConsentRequest.objects.filter(state=ConsentRequest.State.WAITING),
        "created_at",
        order=2,
        badge="warning",
    )
)

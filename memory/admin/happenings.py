"""What the feed of the admin's home is made of: happenings, from the tables that know of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Model
from django.urls import reverse
from django.utils import timezone

from audit.models import Erasure
from memory.domain.judgements import A_WINS, B_WINS, BOTH_VALID, MERGED
from memory.models import Contradiction, Job, Memory
from memory.selectors.figures import learned_by_agents
from memory.selectors.history.log import latest_of_events
from teams.admin.display import actor_words, excerpt, page_of
from teams.models import Agent, AgentVersion, Team, TeamVersion

OF_EACH = 40
_LEARNED_FOR = timedelta(days=6)
_DID = {
    "corrected": "corrected",
    "merged": "wrote a merged memory",
    "pinned": "pinned",
    "unpinned": "unpinned",
    "archived": "archived",
    "soft_deleted": "deleted",
    "restored": "restored",
}
_ICONS = {
    "pinned": "keep",
    "unpinned": "keep_off",
    "soft_deleted": "delete",
    "archived": "archive",
    "restored": "undo",
    "corrected": "edit",
    "merged": "merge",
}
# What a judge decides by itself, such as that news replaces what was, is no dispute.
_DISPUTE = "dispute"
_SETTLED = {
    A_WINS: "the earlier one stands",
    B_WINS: "the later one stands",
    BOTH_VALID: "both are valid",
    MERGED: "merged into one",
}


@dataclass(frozen=True, slots=True)
class Happening:
    """One line: when, who, what they did, and where it is seen.

    `about` is the text it is about, of the newest where there are several; `key` is equal for
    happenings that make one line.
    """

    at: datetime
    team_id: UUID
    who: str
    did: str
    about: str
    url: str
    key: Hashable
    count: int = 1
    noun: str = "memories"
    icon: str = "history"
    reason: str = ""

    @property
    def what(self) -> str:
        """What it is about, or how many there are of it."""
        if self.count == 1:
            return self.about
        return f"{self.count:,} {self.noun}" if self.noun else f"{self.about}, {self.count} times"


def _log(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    rows = latest_of_events(team_ids=team_ids, events=list(_DID), of_each=OF_EACH)
    texts = Memory.objects.filter(team_id__in=team_ids, pk__in=[row.memory_id for row in rows])
    said = dict(texts.values_list("pk", "content"))
    for row in rows:
        yield Happening(
            at=row.at,
            team_id=row.team_id,
            who=actor_words(row.actor),
            did=_DID[row.event],
            about=f"“{excerpt(said.get(row.memory_id, ''))}”",
            url=page_of("memory_memory", row.memory_id),
            key=(row.event, row.team_id, row.actor, row.reason, _hour(row.at)),
            icon=_ICONS.get(row.event, "history"),
            reason=row.reason,
        )


def _found(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    rows = Contradiction.objects.filter(team_id__in=team_ids, verdict=_DISPUTE)
    for pair in rows.select_related("memory_a").order_by("-detected_at")[:OF_EACH]:
        is_report = pair.memory_b_id is None
        yield Happening(
            at=pair.detected_at,
            team_id=pair.team_id,
            who=actor_words(pair.judge) if is_report else "The judge",
            did="reported as wrong" if is_report else "disputes",
            about=f"“{excerpt(pair.memory_a.content)}”",
            url=page_of_row(pair),
            key=("found", pair.team_id, is_report and pair.judge, _hour(pair.detected_at)),
            icon="compare_arrows",
            reason=pair.reason,
        )


def _settled(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    rows = Contradiction.objects.filter(
        team_id__in=team_ids, verdict=_DISPUTE, resolved_at__isnull=False
    ).select_related("memory_a")
    for pair in rows.order_by("-resolved_at")[:OF_EACH]:
        yield Happening(
            at=pair.resolved_at or pair.detected_at,
            team_id=pair.team_id,
            who=actor_words(pair.resolved_by),
            did="settled",
            about=f"“{excerpt(pair.memory_a.content)}”",
            url=page_of_row(pair),
            key=(pair.resolution, pair.team_id, pair.resolved_by, _hour(pair.resolved_at)),
            noun="contradictions",
            icon="task_alt",
            reason=", ".join(filter(None, [_SETTLED[pair.resolution], pair.resolution_note])),
        )


def _learned(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    """One line for each agent and day of the last week."""
    jobs = reverse("admin:memory_job_changelist")
    zone = timezone.get_current_timezone()
    since = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0) - _LEARNED_FOR
    for each in learned_by_agents(team_ids=team_ids, since=since, zone=zone):
        begins_at = datetime.combine(each.day, time(), zone)
        query = {
            "state": Job.State.DONE.value,
            "conversation__agent__id__exact": each.agent_id,
            "finished_at__gte": begins_at.isoformat(),
            "finished_at__lt": (begins_at + timedelta(days=1)).isoformat(),
        }
        yield Happening(
            at=each.last_at,
            team_id=each.team_id,
            who=each.agent,
            did="learned",
            about="1 memory from a conversation",
            url=f"{jobs}?{urlencode(query)}",
            key=("learned", each.team_id, each.agent_id, each.day),
            count=each.memories,
            noun="memories from conversations",
            icon="school",
        )


def _failed(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    rows = Job.objects.filter(
        team_id__in=team_ids, state=Job.State.FAILED, finished_at__isnull=False
    ).select_related("conversation")
    for job in rows.order_by("-finished_at")[:OF_EACH]:
        if job.finished_at is not None:
            yield Happening(
                at=job.finished_at,
                team_id=job.team_id,
                who="",
                did="The extraction failed of",
                about=f"the conversation {job.conversation.thread_id}",
                url=page_of_row(job),
                key=("failed", job.team_id, _hour(job.finished_at)),
                noun="conversations",
                icon="error",
                reason=excerpt(job.error),
            )


def _agents(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    rows = AgentVersion.objects.filter(team_id__in=team_ids).select_related("agent")
    for version in rows.order_by("-created_at")[:OF_EACH]:
        did = "created the agent" if version.number == 1 else "changed the agent"
        yield _version(version, did=did, of=version.agent, icon="smart_toy")


def _settings(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    rows = TeamVersion.objects.filter(team_id__in=team_ids, number__gt=1).select_related("team")
    for version in rows.order_by("-created_at")[:OF_EACH]:
        yield _version(version, did="changed the settings of", of=version.team, icon="settings")


def _version(
    version: AgentVersion | TeamVersion, *, did: str, of: Agent | Team, icon: str
) -> Happening:
    return Happening(
        at=version.created_at,
        team_id=version.team_id,
        who=actor_words(version.actor),
        did=did,
        about=str(of),
        url=page_of_row(version),
        key=(did, of.pk, version.actor, _hour(version.created_at)),
        noun="",
        icon=icon,
        reason=version.reason,
    )


def _erasures(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    for row in Erasure.objects.filter(team_id__in=team_ids).order_by("-at")[:OF_EACH]:
        yield Happening(
            at=row.at,
            team_id=row.team_id,
            who=actor_words(row.actor),
            did="erased",
            about="all that was held of a person" if row.end_user_id else "purged memories",
            url=page_of("teams_enduser", row.end_user_id) if row.end_user_id else "",
            key=("erasure", row.pk),
            icon="person_remove" if row.end_user_id else "delete_forever",
            reason=row.reason,
        )


def page_of_row(row: Model) -> str:
    return page_of(row._meta.label_lower.replace(".", "_"), row.pk)


def _hour(at: datetime | None) -> datetime | None:
    return at and at.replace(minute=0, second=0, microsecond=0)


# Each reads the newest of its kind in some teams; a satellite adds its own in its admin module.
SOURCES: list[Callable[[Sequence[UUID]], Iterator[Happening]]] = [
    _log,
    _found,
    _settled,
    _learned,
    _failed,
    _agents,
    _settings,
    _erasures,
]

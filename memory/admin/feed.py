"""The feed of the admin's home: actions of people and agents that a colleague would want to know.

Similar actions of one hour are one line: "rob pinned 12 memories". Links between memories and
re-indexing are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from itertools import chain
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Model, QuerySet
from django.urls import reverse
from django.utils import timezone

from audit.admin.history import REPORT_WORDS, SETTLED_WORDS
from audit.models import Erasure
from memory.models import Contradiction, Job, Memory
from memory.selectors.figures import learned_by_agents
from memory.selectors.history.log import latest_of_events
from teams.admin.display import actor_words, excerpt, page_of, page_of_row
from teams.models import AgentVersion, TeamVersion

_SHOWN = 25
OF_EACH = 40
_LEARNED_FOR = timedelta(days=6)
# By event of the log: the words, and the icon.
_DID = {
    "corrected": ("corrected", "edit"),
    "merged": ("wrote a merged memory", "merge"),
    "pinned": ("pinned", "keep"),
    "unpinned": ("unpinned", "keep_off"),
    "archived": ("archived", "archive"),
    "soft_deleted": ("deleted", "delete"),
    "restored": ("restored", "undo"),
}


@dataclass(frozen=True, slots=True)
class Happening:
    """One line: when, who, what they did, and where it is seen; `url` is empty if nowhere.

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
        """The text it is about, or the number of such texts."""
        if self.count == 1:
            return self.about
        return f"{self.count:,} {self.noun}" if self.noun else f"{self.about}, {self.count} times"


def feed_of(*, team_ids: Sequence[UUID]) -> list[Happening]:
    """The newest lines of these teams, newest first; call it in a scope that shows them."""
    found = chain.from_iterable(source(team_ids) for source in SOURCES)
    lines: dict[Hashable, Happening] = {}
    for each in sorted(found, key=lambda each: each.at, reverse=True):
        first = lines.get(each.key)
        if first is not None:
            # One line for both, with their reason where they share it.
            reason = first.reason if first.reason == each.reason else ""
            each = replace(first, count=first.count + each.count, reason=reason)
        lines[each.key] = each
    return list(lines.values())[:_SHOWN]


def _newest(rows: QuerySet[Any], team_ids: Sequence[UUID], field: str) -> QuerySet[Any]:
    # Any: rows of each kind
    found = rows.filter(team_id__in=team_ids, **{f"{field}__isnull": False})
    return found.order_by(f"-{field}")[:OF_EACH]


def _happening(row: Any, at: datetime, *alike: Hashable, **values: Any) -> Happening:
    """One about a row; those of an hour with the same `alike` make one line."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    if "url" not in values:
        values["url"] = page_of_row(row)
    return Happening(at=at, team_id=row.team_id, key=(row.team_id, *alike, hour), **values)


def _log(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    rows = latest_of_events(team_ids=team_ids, events=list(_DID), of_each=OF_EACH)
    texts = Memory.objects.filter(team_id__in=team_ids, pk__in=[row.memory_id for row in rows])
    said = dict(texts.values_list("pk", "content"))
    for row in rows:
        did, icon = _DID[row.event]
        yield _happening(
            row,
            row.at,
            *(row.event, row.actor, row.reason),
            who=actor_words(row.actor),
            did=did,
            about=f"“{excerpt(said.get(row.memory_id, ''))}”",
            url=page_of("memory_memory", row.memory_id),
            icon=icon,
            reason=row.reason,
        )


def _disputes() -> QuerySet[Contradiction]:
    # A judge's own decision, such as that news replaces what was, is no dispute.
    return Contradiction.objects.filter(verdict="dispute").select_related("memory_a")


def _found(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    for pair in _newest(_disputes(), team_ids, "detected_at"):
        is_report = pair.memory_b_id is None
        yield _happening(
            pair,
            pair.detected_at,
            *("found", is_report and pair.judge),
            who=actor_words(pair.judge) if is_report else "The judge",
            did="reported as wrong" if is_report else "found a conflict in",
            about=f"“{excerpt(pair.memory_a.content)}”",
            icon="compare_arrows",
            reason=pair.reason,
        )


def _settled(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    for pair in _newest(_disputes(), team_ids, "resolved_at"):
        words = SETTLED_WORDS if pair.memory_b_id else REPORT_WORDS
        yield _happening(
            pair,
            pair.resolved_at,
            *("settled", pair.resolution, pair.resolved_by),
            who=actor_words(pair.resolved_by),
            did="settled",
            about=f"“{excerpt(pair.memory_a.content)}”",
            noun="contradictions",
            icon="task_alt",
            reason=", ".join(filter(None, [words[pair.resolution], pair.resolution_note])),
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
    rows = Job.objects.filter(state=Job.State.FAILED).select_related("conversation")
    for job in _newest(rows, team_ids, "finished_at"):
        yield _happening(
            job,
            job.finished_at,
            "failed",
            who="",
            did="Extraction failed for",
            about=f"the conversation {job.conversation.thread_id}",
            noun="conversations",
            icon="error",
            reason=excerpt(job.error),
        )


def _versions(
    rows: QuerySet[Any], owner: str, did: str, icon: str
) -> Callable[[Sequence[UUID]], Iterator[Happening]]:
    """The source of versions of what the field `owner` names."""

    def source(team_ids: Sequence[UUID]) -> Iterator[Happening]:
        for version in _newest(rows.select_related(owner), team_ids, "created_at"):
            of: Model = getattr(version, owner)
            done = "created the agent" if version.number == 1 else did
            yield _happening(
                version,
                version.created_at,
                *(done, of.pk, version.actor),
                who=actor_words(version.actor),
                did=done,
                about=str(of),
                noun="",
                icon=icon,
                reason=version.reason,
            )

    return source


def _erasures(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    for row in _newest(Erasure.objects.all(), team_ids, "at"):
        yield _happening(
            row,
            row.at,
            *("erasure", row.pk),
            who=actor_words(row.actor),
            did="erased",
            about="all data of a person" if row.end_user_id else "purged memories",
            url=page_of("teams_enduser", row.end_user_id) if row.end_user_id else "",
            icon="person_remove" if row.end_user_id else "delete_forever",
            reason=row.reason,
        )


# Each reads the newest of its kind in some teams; a satellite adds its own in its admin module.
SOURCES: list[Callable[[Sequence[UUID]], Iterator[Happening]]] = [
    _log,
    _found,
    _settled,
    _learned,
    _failed,
    _versions(AgentVersion.objects.all(), "agent", "changed the agent", "smart_toy"),
    _versions(
        TeamVersion.objects.filter(number__gt=1), "team", "changed the settings of", "settings"
    ),
    _erasures,
]

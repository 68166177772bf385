"""Facts that several people state."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from audit.models import MemoryLog
from memory.domain.text.words import name_words, normalise_text
from memory.domain.types import MemoryType, Status
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from teams.models import EndUser, Role
from teams.prepared import run_prepared

# So many memories that hold the same words are compared.
_MOST_ALIKE = 50
_MOST_NAMES = 10_000
_WORD = re.compile(r"\b(?=[^\W\d_])(?![a-z])\w+")
_PERSONAL = ("profile", "preference", "preferences", "relationship_dynamic")
_HOLDING = """
SELECT term, memory_id FROM palimpsest_matches($1, '{""}', true, $2, $3, NULL, NULL)
"""


def stated_by_people(*, team_id: UUID) -> MemoryQuerySet:
    """Memories of members that may be the team's; call it in the team's scope.

    Every agent sees them on behalf of their person: nothing private, and nothing of a profile.
    """
    is_member = Q(end_user__role=Role.MEMBER) | Q(
        end_user__role="", end_user__team__person_role=Role.MEMBER
    )
    everybody = Q(agent_id__isnull=True) | Q(memory_type=MemoryType.SHARED.value)
    rows = Memory.objects.filter(
        everybody,
        is_member,
        team_id=team_id,
        status=Status.ACTIVE.value,
        memory_type__in=(MemoryType.SEMANTIC.value, MemoryType.SHARED.value),
        form="",
    )
    return rows.exclude(category__in=_PERSONAL).exclude(
        Q(subject="user") | Q(subject__startswith="user.")
    )


def stated_lately(*, team_id: UUID, since: datetime, most: int) -> Sequence[Memory]:
    """Those of them that were stored or changed since, by the log's times; in scope."""
    changed = MemoryLog.objects.filter(team_id=team_id, at__gte=since).values("memory_id")
    rows = stated_by_people(team_id=team_id).filter(id__in=changed)
    return list(rows.select_related("end_user").order_by("-id")[:most])


def saying_the_same(*, team_id: UUID, of: Sequence[Memory]) -> Mapping[UUID, Sequence[Memory]]:
    """For each memory the other live ones of its project and category with its words; in scope.

    Of whomever they are.
    """
    if not of:
        return {}
    given = [team_id, [each.content for each in of], _MOST_ALIKE]
    pairs = [(of[term - 1], pk) for term, pk in run_prepared(_HOLDING, given)]
    rows = Memory.objects.live().select_related("end_user")
    known = rows.filter(team_id=team_id).in_bulk({pk for _, pk in pairs})
    found: dict[UUID, list[Memory]] = defaultdict(list)
    for memory, pk in pairs:
        other = known.get(pk)
        if other is not None and other.pk != memory.pk and _are_alike(memory, other):
            found[memory.pk].append(other)
    return found


def people_named(*, team_id: UUID, contents: Sequence[str]) -> list[str]:
    """The names, in these texts, of people of the team; call it in the team's scope.

    Words of display names count where they are written with a capital.
    """
    people = EndUser.objects.filter(team_id=team_id)
    ids = people.filter(external_id__in=name_words(contents)).values_list("external_id", flat=True)
    capital = {word.casefold() for each in contents for word in _WORD.findall(each)}
    names = people.exclude(display_name="").values_list("display_name", flat=True)[:_MOST_NAMES]
    return [*ids, *capital.intersection(name_words(names))]


def _are_alike(one: Memory, other: Memory) -> bool:
    where = (one.project_id, one.category) == (other.project_id, other.category)
    return where and normalise_text(one.content) == normalise_text(other.content)

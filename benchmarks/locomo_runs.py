"""Samples into throwaway teams, and their questions asked there."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.utils import timezone

from benchmarks.locomo_data import Recall, Sample
from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.services.indexing.message_index import index_team
from memory.services.indexing.statistics import renew_statistics
from memory.services.messages.importing import (
    ImportMode,
    ImportSummary,
    ImportTarget,
    import_transcripts,
)
from memory.services.read.answers import ScoredMemory
from memory.services.read.cascade import Depth
from memory.services.read.messages import ScoredMessage
from memory.services.read.ranking import Question
from memory.services.read.retrieval import retrieve
from teams.models import Agent, EndUser
from teams.services.people import create_team
from teams.tenancy import team_scope

ACTOR = "benchmark:locomo"
AGENT, USER = "observer", "speakers"
WAYS_IN = {
    "verbatim": ImportMode.VERBATIM,
    "extracted": ImportMode.MESSAGES,
    "extracted+raw": ImportMode.MESSAGES,
    "extracted+weak": ImportMode.MESSAGES,
}
# Whether the messages themselves are searched; None where memories are weak, as by default.
INCLUDE_RAW = {
    "verbatim": False,
    "extracted": False,
    "extracted+raw": True,
    "extracted+weak": None,
}


@dataclass(frozen=True, slots=True)
class Home:
    """The throwaway team that holds one sample."""

    viewer: Viewer
    summary: ImportSummary


def ingest(*, sample: Sample, mode: ImportMode, tools: Tools) -> Home:
    """Import the sample into a new team."""
    slug = f"locomo-{sample.name}-{mode.value}-{secrets.token_hex(4)}"
    team = create_team(slug=slug, name=slug, actor=ACTOR)
    summary = import_transcripts(
        target=ImportTarget(team_id=team.id, agent=AGENT, user=USER),
        transcripts=sample.transcripts,
        mode=mode,
        extract=True,
        tools=tools,
        actor=ACTOR,
        now=timezone.now(),
    )
    index_team(team_id=team.id, tools=tools)
    renew_statistics()  # as the command that imports does
    with team_scope(team_ids=[team.id], actor=ACTOR):
        viewer = Viewer(
            team_id=team.id,
            actor=ACTOR,
            agent_id=Agent.objects.get(team_id=team.id, slug=AGENT).pk,
            end_user_id=EndUser.objects.get(team_id=team.id, external_id=USER).pk,
        )
    return Home(viewer, summary)


def ask(
    *,
    sample: Sample,
    home: Home,
    limit: int,
    include_raw: bool | None,
    recall: Recall,
    tools: Tools,
) -> None:
    """Search for every question of the sample and note what was found.

    `limit` is the results of a search; `include_raw` is that of `cascade.Depth`.
    """
    for question in sample.questions:
        found = retrieve(
            viewer=home.viewer,
            question=Question(question.text),
            limit=limit,
            depth=Depth(include_cold=False, include_raw=include_raw),
            tools=tools,
            now=timezone.now(),
        ).results
        recall.add(question, [_turns(each) for each in found])


def _turns(found: ScoredMemory | ScoredMessage) -> list[str]:
    """The turns that a result stands for."""
    if isinstance(found, ScoredMemory):
        return found.memory.source_external_ids
    return [found.external_id] if found.external_id else []

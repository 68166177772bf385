"""Which shares of the tiers tell most of what is needed, by what an agent is doing.

`python -m benchmarks.context_shares --history FILE [--commits 1500] [--asked 800] [--each 40]
[--budget 8000]`, beside a running database as benchmarks/context_speed.py, which says what FILE is.

The first words of a subject say whether a commit is a feature, a review, a deployment or planning.
So that every tier has something to tell, a fix becomes a failure, what takes up, replaces or drops
something a decision, and what changes nothing but the project's own tools a convention. Before up
to `--each` of the last `--asked` commits of each activity it assembles a context with all files
open and the subject as the query, once with each of some shares, and prints the mean share of the
needed commits that it tells, and the mean difference from the default with its standard error.
Choose on one history and believe what another one says. Rows stay.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from unittest import mock
from uuid import UUID

import numpy as np
from django.utils import timezone

from benchmarks.context_speed import (
    AGENT,
    BATCH,
    PROJECT,
    Commit,
    assembled,
    signals_of,
    stated,
)
from benchmarks.ground import ACTOR, analyse, new_team
from memory.domain.forms import Form
from memory.domain.viewer import Viewer
from memory.satellites.plans.layouts.working import (
    DEFAULT_BUDGET,
    DEFAULT_SHARES,
    SHARES,
    Activity,
    Shares,
)
from memory.services.indexing.vector_graphs import extend_vector_graphs
from memory.services.write.explicit import StatedMemory, remember
from memory.understanding.tools import Tools, default_tools
from teams.models import Agent, Project
from teams.services.people import ensure_agent
from teams.tenancy import team_scope

TRIED: Final[dict[str, Shares]] = {
    "default": DEFAULT_SHARES,
    "critical": SHARES[Activity.DEBUGGING],
    "relevant": (0.15, 0.6, 0.125, 0.125),
    "background": (0.2, 0.3, 0.4, 0.1),
    "less index": (0.3, 0.4, 0.25, 0.05),
}
# The first kind whose words open the subject.
BEGINNINGS: Final = {
    Activity.FEATURE: "add|adds|added|support|implement|introduce|allow|new|feat|enable|expose",
    Activity.REVIEW: r"refactor\w*|renam\w*|clean\w*|tidy|simplif\w*|mov\w*|lint\w*|typ\w*|tests?"
    r"|style|coverage|reorgani\w*|annotat\w*|reformat|minor",
    Activity.DEPLOY: r"releas\w*|version|bump\w*|prepare|publish\w*|ci|build|pin|upgrade|deploy\w*"
    r"|packag\w*|update \w*(?:version|requirement|dependenc)\w*",
    Activity.PLANNING: r"docs?|document\w*|changelog|deprecat\w*|drop\w*|plan\w*|propos\w*|readme",
    Activity.DEBUGGING: r"fix\w*|bug\w*|correct\w*|handle|ensure|prevent|avoid|resolve\w*|don't",
}
_DECIDED: Final = re.compile(
    r"(?:drop|deprecat\w*|require|switch|use|replace|prefer|remove)\b", re.I
)
_OF_TOOLS: Final = re.compile(
    r"contributing|pyproject|setup\.|\.github/|\.travis|tox\.ini|scripts/|requirements|\.pre-commit",
    re.I,
)


def activity_of(commit: Commit) -> Activity | None:
    """What its subject says that it does."""
    subject = re.sub(r"^\W+", "", commit["subject"].lower())
    return next(
        (each for each, words in BEGINNINGS.items() if re.match(rf"(?:{words})\b", subject)), None
    )


def known_as(commit: Commit) -> StatedMemory:
    """The commit as what a project would know of it, in one of the forms of all tiers."""
    plain = stated(commit)
    title, body = " ".join(commit["subject"].split())[:200], commit["body"].strip()[:2000]
    artifacts = {"artifacts": plain.payload["artifacts"]}
    if activity_of(commit) is Activity.DEBUGGING:
        payload = {"signature": title, "lesson": body or title, **artifacts}
        return replace(plain, form=Form.FAILURE, payload=payload)
    if _DECIDED.match(title):
        payload = {"decision": f"{title}. {body}".strip(), **artifacts}
        return replace(plain, form=Form.DECISION, payload=payload)
    if commit["files"] and all(_OF_TOOLS.search(each["path"]) for each in commit["files"]):
        payload = {"convention": f"{title}. {body}".strip(), **artifacts}
        return replace(plain, form=Form.CONVENTION, payload=payload)
    return plain


def store(viewer: Viewer, commits: Sequence[Commit], tools: Tools) -> dict[str, UUID]:
    """Write them; the memory of each commit."""
    found: dict[str, UUID] = {}
    for begin in range(0, len(commits), BATCH):
        part = commits[begin : begin + BATCH]
        given = [known_as(each) for each in part]
        rows = remember(viewer=viewer, stated=given, tools=tools, now=timezone.now())
        found |= {each["sha"]: row.memory.pk for each, row in zip(part, rows, strict=True)}
    return found


def recalls(
    viewer: Viewer, commit: Commit, needed: set[UUID], tools: Tools, budget: int
) -> list[float]:
    """The share of what is needed that is told, with each of the tried shares."""
    signals = replace(signals_of(commit, asks=True), activity=Activity.FEATURE.value)
    found = []
    for shares in TRIED.values():
        with mock.patch.dict(SHARES, {Activity.FEATURE: shares}):
            made = assembled(viewer, signals, tools, budget=budget)
        found.append(len(needed & made.places.keys()) / len(needed))
    return found


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--history", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=1_500, help="the last ones of the history")
    parser.add_argument("--asked", type=int, default=800, help="commits at the end to ask from")
    parser.add_argument("--each", type=int, default=40, help="asked of each activity")
    parser.add_argument("--budget", type=int, default=DEFAULT_BUDGET)
    given = parser.parse_args()
    tools = default_tools()
    commits = [json.loads(line) for line in given.history.read_text().splitlines()]
    commits = [each for each in commits if each["subject"].strip()][-given.commits :]
    earlier, asked = commits[: -given.asked], commits[-given.asked :]
    writer = new_team("shares")
    known = store(writer, earlier, tools)
    with team_scope(team_ids=[writer.team_id], actor=ACTOR):
        ensure_agent(team_id=writer.team_id, slug=AGENT)
        agent = Agent.objects.get(team_id=writer.team_id, slug=AGENT).pk
        project = Project.objects.get(team_id=writer.team_id, slug=PROJECT)
        # Nothing is archived, so that what is needed is there.
        Project.objects.filter(pk=project.pk).update(max_items=10 * len(commits))
    extend_vector_graphs(fresh=0)
    analyse()
    reader = replace(writer, agent_id=agent, project_id=project.pk)
    found: dict[Activity, list[list[float]]] = defaultdict(list)
    waiting: list[Commit] = []
    for commit in asked:
        kind = activity_of(commit)
        wanted = kind not in (None, Activity.DEBUGGING) and commit["files"] and commit["needed"]
        if kind is not None and wanted and len(found[kind]) < given.each:
            known |= store(writer, waiting, tools)
            waiting = []
            if needed := {known[sha] for sha in commit["needed"] if sha in known}:
                found[kind].append(recalls(reader, commit, needed, tools, given.budget))
        waiting.append(commit)
    print(f"at {given.budget} tokens: recall with the default, difference and its standard error")
    print(f"{'':<10}{'commits':>8}" + "".join(f"{name:>18}" for name in TRIED))
    for kind, rows in found.items():
        told = np.array(rows)
        by = told - told[:, :1]
        error = by.std(axis=0, ddof=1) / np.sqrt(len(rows))
        others = zip(by.mean(axis=0)[1:], error[1:], strict=True)
        line = "".join(f"{mean:>+10.3f} ± {each:.3f}" for mean, each in others)
        print(f"{kind.value:<10}{len(rows):>8}{told[:, 0].mean():>18.3f}{line}")


if __name__ == "__main__":
    main()

"""What a context for work in progress takes beside a retrieval, and how many tokens it saves.

Run as ``python -m benchmarks.context_speed --history FILE`` beside a running, migrated database,
with the settings that manage.py uses. FILE has a commit a line, as {"sha", "at", "subject", "body",
"files": [{"path"}], "needed": {sha: lines}}. Each commit becomes an episode of a project with its
files as artifacts, a revert a failure, and a commit that documents how to contribute a convention.
``--facts`` adds so many facts about other things.

It prints milliseconds of `retrieve`, the read-only context, assemble, predict and package, in
process on the same data and for the same questions, and their ratios to `retrieve`. Then, before
each of the last commits, what is told when its files are opened, by budget: the share of the needed
commits in it beside that of `retrieve`, its tokens, and those of the same memories pasted in full.
Rows stay: use a database that may be thrown away.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from django.utils import timezone

from benchmarks.ground import ACTOR, analyse, statements
from benchmarks.texts import Texts
from memory.domain.filters import All
from memory.domain.forms import Form
from memory.domain.scoring import Weights
from memory.domain.tokens import ESTIMATE, estimate_tokens
from memory.domain.viewer import Viewer
from memory.domain.work import Signals
from memory.satellites.plans.context import ContextRequest, read_only_context
from memory.satellites.plans.context_package import PackageRequest, context_package
from memory.satellites.plans.layouts.working import DEFAULT_BUDGET, ContextTier
from memory.satellites.plans.predicting import predict
from memory.satellites.plans.working_context import WorkingContext, assemble_context, named_alone
from memory.satellites.tasks.domain import ItemKind
from memory.satellites.tasks.services import NewItem, add_item, begin_task
from memory.services.indexing.pending_vectors import embed_pending
from memory.services.indexing.vector_graphs import extend_vector_graphs
from memory.services.read.ranking import Question
from memory.services.read.retrieval import Read, packing_for, prompt
from memory.services.read.search import Depth
from memory.services.write.explicit import StatedMemory, remember
from memory.understanding.tools import Tools, default_tools
from teams.domain.context_policy import ContextPolicy
from teams.models import Agent, Project
from teams.services.people import ensure_agent, ensure_team
from teams.tenancy import team_scope

AGENT, PROJECT = "coder", "history"
BATCH = 500
BUDGETS = (1_000, 2_000, 4_000, DEFAULT_BUDGET)
WARM_UP = 10
# Any: a commit as JSON has it
Commit = Mapping[str, Any]


def stated(commit: Commit) -> StatedMemory:
    """The commit as what a project would know of it."""
    title = " ".join(commit["subject"].split())[:200] or "No subject"
    body = commit["body"].strip()[:2000]
    artifacts = [{"kind": "commit", "ref": commit["sha"]}]
    artifacts += [{"kind": "file", "ref": each["path"][:500]} for each in commit["files"]]
    payload: dict[str, Any]  # Any: a payload of any form
    if title.lower().startswith("revert"):
        form, payload = Form.FAILURE, {"signature": title, "lesson": body or "It was taken back."}
    elif any("contributing" in each["path"].lower() for each in commit["files"]):
        form, payload = Form.CONVENTION, {"convention": f"{title}. {body}".strip()}
    else:
        form, payload = Form.EPISODE, {"title": title, **({"narrative": body} if body else {})}
    return StatedMemory(
        project=PROJECT,
        form=form,
        payload={**payload, "artifacts": artifacts[:20]},
        created_at=datetime.fromisoformat(commit["at"]),
        check=False,
    )


def store(viewer: Viewer, commits: Sequence[Commit], tools: Tools) -> dict[str, UUID]:
    """Write them; the memory of each commit."""
    found: dict[str, UUID] = {}
    for begin in range(0, len(commits), BATCH):
        part = commits[begin : begin + BATCH]
        rows = remember(
            viewer=viewer, stated=[stated(each) for each in part], tools=tools, now=timezone.now()
        )
        found |= {each["sha"]: row.memory.pk for each, row in zip(part, rows, strict=True)}
    return found


def signals_of(commit: Commit, *, asks: bool = False) -> Signals:
    """Its files as opened; the subject as the query where it `asks`."""
    first, *others = (each["path"] for each in commit["files"])
    query = commit["subject"] if asks else ""
    return Signals(current_file=first, opened_files=tuple(others), query=query)


def assembled(
    viewer: Viewer, signals: Signals, tools: Tools, *, budget: int = DEFAULT_BUDGET
) -> WorkingContext:
    """The context of these signals within the budget."""
    return assemble_context(
        viewer=viewer,
        signals=signals,
        collaborator_id=None,
        weights=Weights(),
        token_budget=budget,
        counter=ESTIMATE,
        tools=tools,
        now=timezone.now(),
    )


def retrieved(
    viewer: Viewer, text: str, tools: Tools, *, budget: int = DEFAULT_BUDGET
) -> set[UUID]:
    """What a retrieval with that budget tells."""
    packing = packing_for(weights=Weights(), token_budget=budget)
    found = prompt(
        Read(
            viewer=viewer,
            question=Question(text),
            depth=Depth(include_cold=False),
            tools=tools,
            now=timezone.now(),
        ),
        packing=packing,
    )
    return {each.row.memory_id for each in found.told}


def with_task(viewer: Viewer, commit: Commit) -> None:
    """Begin the commit's task, in which its subject is noted."""
    task, now = commit["sha"], timezone.now()
    begin_task(viewer=viewer, task_id=task, agent=AGENT, project=PROJECT, now=now)
    item = NewItem(ItemKind.REASONING, text=commit["subject"])
    add_item(viewer=viewer, task_id=task, item=item, now=now)


def packaged(viewer: Viewer, commit: Commit, tools: Tools) -> object:
    """What the commit's task brings."""
    request = PackageRequest(
        task_id=commit["sha"],
        token_budget=DEFAULT_BUDGET,
        counter=ESTIMATE,
        policy=ContextPolicy(),
        filters=All(),
    )
    return context_package(
        viewer=viewer, request=request, weights=Weights(), tools=tools, now=timezone.now()
    )


def speed(viewer: Viewer, commits: Sequence[Commit], tools: Tools) -> None:
    """Print what each kind of read takes for the same questions, and its ratio to `retrieve`."""
    own = named_alone(viewer)
    kinds: dict[str, Callable[[Commit], object]] = {
        "retrieve": lambda each: retrieved(own, each["subject"], tools),
        "context": lambda each: read_only_context(
            viewer=own,
            request=ContextRequest(Question(each["subject"])),
            weights=Weights(),
            tools=tools,
            now=timezone.now(),
        ),
        "assemble": lambda each: assembled(viewer, signals_of(each, asks=True), tools),
        "predict": lambda each: predict(
            viewer=own, signals=signals_of(each), tools=tools, now=timezone.now()
        ),
        "package": lambda each: packaged(viewer, each, tools),
    }
    took: dict[str, list[float]] = {name: [] for name in kinds}
    for commit in commits:
        with_task(viewer, commit)
    # In turns, so that the load of the machine is the same for all.
    for commit in commits:
        for name, read in kinds.items():
            began = time.perf_counter()
            read(commit)
            took[name].append(1000 * (time.perf_counter() - began))
    usual = float(np.median(took["retrieve"][WARM_UP:]))
    print("ms: p50, p95, p50 / p50 of retrieve")
    for name, each in took.items():
        p50, p95 = np.percentile(each[WARM_UP:], [50, 95])
        print(f"{name:<10}{p50:>8.1f}{p95:>8.1f}{p50 / usual:>8.2f}")


def efficiency(
    viewer: Viewer, commits: Sequence[Commit], known: dict[str, UUID], tools: Tools
) -> None:
    """Print what is told before each commit, by budget, and write it afterwards."""
    figures: dict[int, list[tuple[float, ...]]] = {budget: [] for budget in BUDGETS}
    for commit in commits:
        needed = {known[sha] for sha in commit["needed"] if sha in known}
        if needed and commit["files"]:
            for budget, found in figures.items():
                made = assembled(viewer, signals_of(commit, asks=True), tools, budget=budget)
                usual = retrieved(named_alone(viewer), commit["subject"], tools, budget=budget)
                texts = (each.memory.content for each in made.retrieval.memories)
                told = len(needed & made.places.keys()) / len(needed)
                tokens = made.token_count - made.tiers[ContextTier.INDEX]
                whole = sum(estimate_tokens(text) for text in texts)
                found.append((told, len(needed & usual) / len(needed), tokens, whole))
        known |= store(viewer, [commit], tools)
    print(f"{len(figures[BUDGETS[0]])} commits, by budget: recall of what is needed, that of")
    print("retrieve; tokens without the index, those of the same texts pasted in full, their ratio")
    for budget, each in figures.items():
        told, usual, tokens, whole = np.mean(each, axis=0)
        row = (
            f"{budget:>6}{told:>8.3f}{usual:>8.3f}{tokens:>8.0f}{whole:>8.0f}{tokens / whole:>8.2f}"
        )
        print(row)


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--history", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=1_500, help="the last ones of the history")
    parser.add_argument("--facts", type=int, default=0, help="about other things")
    parser.add_argument("--asked", type=int, default=100, help="commits at the end that are asked")
    given = parser.parse_args()
    tools = default_tools()
    commits = [json.loads(line) for line in given.history.read_text().splitlines()]
    commits = [each for each in commits if each["subject"].strip()][-given.commits :]
    earlier, asked = commits[: -given.asked], commits[-given.asked :]
    team_id = ensure_team(slug=f"context-{uuid4().hex[:10]}", actor=ACTOR)
    viewer = Viewer(team_id=team_id, actor=ACTOR)
    known = store(viewer, earlier, tools)
    texts = Texts(random.randrange(2**32))
    for begin in range(0, given.facts, BATCH):
        facts = statements(texts, min(BATCH, given.facts - begin))
        remember(viewer=viewer, stated=facts, tools=tools, now=timezone.now())
    with team_scope(team_ids=[team_id], actor=ACTOR):
        ensure_agent(team_id=team_id, slug=AGENT)
        agent = Agent.objects.get(team_id=team_id, slug=AGENT).pk
        project = Project.objects.get(team_id=team_id, slug=PROJECT).pk
    embed_pending(tools=tools, seconds=math.inf)
    extend_vector_graphs(fresh=0)
    analyse()
    reader = Viewer(team_id=team_id, actor=ACTOR, agent_id=agent, project_id=project)
    speed(reader, [each for each in asked if each["files"]], tools)
    efficiency(reader, asked, known, tools)


if __name__ == "__main__":
    main()

"""Does the context of work in progress hold the earlier commits that the next one needs?

Run as ``python -m benchmarks.coding_context --history FILE [FILE ...]``. A history has a commit a
line, oldest first: `sha`, `at`, `subject`, `body`, `files` (`path`, `added`, `removed`) and
`needed`, the earlier commits whose lines it changes (``benchmarks.git_history`` makes one). Before
a commit its files are opened, the most changed first. ``--only`` chooses among the parts. All but
`prediction` and `fit` ask before each of the last ``--asked`` commits, and want a running, migrated
database that may be thrown away:

- prediction: the share of needed commits among the first 20 and 50, after the first file and after
  all, by the product's scorer and by two baselines;
- speed: milliseconds of a retrieval, the read-only context, assemble, predict and package, in
  process on the same data and for the same questions, with their ratios to the retrieval;
- budgets: by token budget, the share of needed commits in the context beside that of a retrieval,
  its tokens without the index, and those of the same memories pasted in full;
- relevance: with only the first file open, the share of what is told as critical and as relevant
  that names a file of the commit, the share of needed commits that is told, and the mean tokens;
- signals (only if named): the share of needed commits among the first 20 predicted, and that of
  relevance, with all signals, without each and with each alone. The branch, the query and the error
  are the subject of the commit, so theirs are upper bounds; what was needed is reported as of use;
- shares: the mean share of needed commits with the tiers' default shares, and the difference with
  some others, by activity: the first words of a subject say which it is;
- fit (only if named): what a fit on each history scores on each other one; ``--write`` fits on all
  together and writes memory/satellites/plans/weights.py.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest import mock
from uuid import UUID

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from benchmarks.ground import analyse, new_team, scope_of
from memory.domain.audience import Viewer
from memory.domain.filters import All
from memory.domain.forms import Form
from memory.domain.rendering import ESTIMATE, estimate_tokens
from memory.domain.scoring import Weights as Scoring
from memory.domain.types import Signals, Work
from memory.models import Memory
from memory.reading.packing import Packing
from memory.reading.questions import Depth, Question, Read
from memory.reading.retrieval import prompt
from memory.satellites.plans import weights
from memory.satellites.plans.imports import is_imported, names_of_imported
from memory.satellites.plans.package import PackageRequest, context_package
from memory.satellites.plans.placing import (
    DEFAULT_BUDGET,
    DEFAULT_SHARES,
    SHARES,
    Activity,
    ContextTier,
    Shares,
)
from memory.satellites.plans.predicting import note_useful, predict
from memory.satellites.plans.prediction_models import (
    FITTED,
    LATEST,
    Touch,
    Weights,
    features_of_all,
    features_of_one,
    file_name,
    latest_changes,
    likely_needed,
    near_files,
)
from memory.satellites.plans.read_only import ContextRequest, read_only_context
from memory.satellites.plans.selectors import files_of
from memory.satellites.plans.working_context import WorkingContext, assemble_context, named_alone
from memory.satellites.tasks.services import NewItem, add_item, begin_task
from memory.satellites.tasks.store import ItemKind
from memory.understanding.tools import default_tools
from memory.writing.indexing.vector_graphs import extend_vector_graphs
from memory.writing.indexing.vectors import embed_pending
from memory.writing.stating import StatedMemory, remember
from teams.domain.agent_document import ContextPolicy
from teams.models import Agent, Project
from teams.services.people import ensure_agent

LIMITS: Final = (20, 50)
BATCH: Final = 500
MOST_OPENED: Final = 20
BUDGETS: Final = (1_000, 2_000, 4_000, DEFAULT_BUDGET)
WARM_UP: Final = 10
TRIED: Final[dict[str, Shares]] = {
    "default": DEFAULT_SHARES,
    "critical": SHARES[Activity.DEBUGGING],
    "relevant": (0.15, 0.6, 0.125, 0.125),
    "background": (0.2, 0.3, 0.4, 0.1),
    "less index": (0.3, 0.4, 0.25, 0.05),
}
# The first activity whose words begin the subject.
BEGINNINGS: Final = {
    Activity.FEATURE: "add|adds|added|support|implement|introduce|allow|new|feat|enable|expose",
    Activity.REVIEW: r"refactor\w*|renam\w*|clean\w*|simplif\w*|mov\w*|lint\w*|typ\w*|tests?|style",
    Activity.DEPLOY: r"releas\w*|version|bump\w*|prepare|publish\w*|ci|build|pin|upgrade|deploy\w*",
    Activity.PLANNING: r"docs?|document\w*|changelog|deprecat\w*|drop\w*|plan\w*|propos\w*|readme",
    Activity.DEBUGGING: r"fix\w*|bug\w*|correct\w*|handle|ensure|prevent|avoid|resolve\w*|don't",
}
_DECIDED: Final = re.compile(r"(?:drop|deprecat\w*|require|switch|use|replace|remove)\b", re.I)
_OF_TOOLS: Final = re.compile(
    r"contributing|pyproject|setup\.|\.github/|\.travis|tox\.ini|scripts/|requirements", re.I
)
# Signals of the work by the fields that they fill.
SIGNALS: Final[Mapping[str, tuple[str, ...]]] = {
    "open file": ("current_file",),
    "other files": ("opened_files",),
    "imports": ("imports",),
    "branch": ("branch",),
    "error": ("recent_errors",),
    "activity": ("activity",),
    "time": ("time",),
    "query": ("query",),
}
Rows = list[tuple[tuple[float, ...], bool]]


@dataclass(frozen=True, slots=True)
class Commit:
    """One line of a history; `files` have their added and removed lines, the most changed first."""

    sha: str
    at: datetime
    title: str
    body: str
    files: tuple[tuple[str, int, int], ...]
    needed: frozenset[str]
    imports: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are opened before it, in that order."""
        return tuple(path for path, *_ in self.files[:MOST_OPENED])

    @property
    def activity(self) -> Activity | None:
        """The activity that its title names, if any."""
        title = re.sub(r"^\W+", "", self.title.lower())
        return next(
            (each for each, words in BEGINNINGS.items() if re.match(rf"(?:{words})\b", title)), None
        )

    def touches(self) -> Iterator[Touch]:
        """Yields the commit's touches of files, which the scorer gets once it has happened."""
        for path, added, removed in self.files:
            yield Touch(self.sha, path, added, removed, len(self.files))

    def stated(self) -> StatedMemory:
        """The commit as what a project would know of it, in a form for each tier."""
        artifacts = [{"kind": "commit", "ref": self.sha}]
        artifacts += [{"kind": "file", "ref": path[:500]} for path, *_ in self.files]
        text = f"{self.title}. {self.body}".strip()
        payload: dict[str, Any]  # Any: a payload of any form
        if self.activity is Activity.DEBUGGING or self.title.lower().startswith("revert"):
            form, payload = Form.FAILURE, {"signature": self.title, "lesson": text}
        elif _DECIDED.match(self.title):
            form, payload = Form.DECISION, {"decision": text}
        elif self.paths and all(map(_OF_TOOLS.search, self.paths)):
            form, payload = Form.CONVENTION, {"convention": text}
        else:
            narrative = {"narrative": self.body} if self.body else {}
            form, payload = Form.EPISODE, {"title": self.title, **narrative}
        payload["artifacts"] = artifacts[:200]
        return StatedMemory(
            project="history", form=form, payload=payload, created_at=self.at, check=False
        )

    def signals(self) -> Signals:
        """Its files as opened and its title as the query."""
        first, *others = self.paths
        return Signals(current_file=first, opened_files=tuple(others), query=self.title)

    def all_signals(self) -> Signals:
        """Everything that a commit can stand for; a fix is of an error as its title says it."""
        is_fix = self.activity is Activity.DEBUGGING
        return replace(
            self.signals(),
            imports=self.imports,
            branch="-".join(self.title.lower().split()),
            recent_errors=(self.title,) if is_fix else (),
            activity=self.activity.value if self.activity else "",
            time=self.at,
        )


@dataclass(frozen=True, slots=True)
class Event:
    """A commit that is about to be made, and what touched files before, by their names."""

    commit: Commit
    before: Sequence[Commit]
    by_name: Mapping[str, Sequence[tuple[int, Touch]]]

    def named(self, paths: Iterable[str]) -> list[Touch]:
        """Returns the touches of files of the same names, oldest first."""
        names = {file_name(path) for path in paths}
        rows = (row for name in names for row in self.by_name.get(name, ()))
        return [touch for _, touch in sorted(rows, key=lambda row: row[0])]

    def near(self, opened: Sequence[str], touches: Sequence[Touch]) -> dict[str, float]:
        """Returns the files that may be opened next, with their chances."""
        changes = latest_changes(opened=opened, touches=touches)
        wanted = {key for keys in changes.values() for key in keys}
        files: dict[Hashable, Sequence[str]] = {
            each.sha: [path for path, *_ in each.files]
            for each in self.before
            if each.sha in wanted
        }
        path, imports = self.commit.paths[0], self.commit.imports
        named = self.named(names_of_imported(imports, path=path))
        imported = {each.path for each in named if is_imported(each.path, imports, path=path)}
        return near_files(opened=opened, touches=touches, files=files, imported=imported)


Ranker = Callable[[Event, Sequence[str]], Sequence[str]]


def read_history(file: Path) -> list[Commit]:
    """The commits of the file that have a subject, oldest first."""
    found = []
    for line in file.read_text().splitlines():
        row = json.loads(line)
        files = [(each["path"], each["added"], each["removed"]) for each in row["files"]]
        found.append(
            Commit(
                sha=row["sha"],
                at=datetime.fromisoformat(row["at"]),
                title=" ".join(row["subject"].split())[:200],
                body=row["body"].strip()[:2000],
                files=tuple(sorted(files, key=lambda each: -sum(each[1:]))),
                needed=frozenset(row["needed"]),
                imports=tuple(row.get("imports", ())),
            )
        )
    return [each for each in found if each.title]


def events(history: Sequence[Commit]) -> Iterator[Event]:
    """Every commit that needs earlier ones."""
    by_name: dict[str, list[tuple[int, Touch]]] = defaultdict(list)
    for place, commit in enumerate(history):
        if commit.needed:
            yield Event(commit, history[:place], by_name)
        for touch in commit.touches():
            by_name[file_name(touch.path)].append((place, touch))


def by_latest(event: Event, _opened: Sequence[str]) -> list[str]:
    """The latest commits of all."""
    return [each.sha for each in reversed(event.before[-LIMITS[-1] :])]


def by_latest_of_files(event: Event, opened: Sequence[str]) -> list[str]:
    """The latest commits that touched one of the open files."""
    touches = event.named(opened)
    touched = [str(each.key) for each in reversed(touches) if each.path in opened]
    return list(dict.fromkeys(touched))


def by_ownership(
    event: Event, opened: Sequence[str], models: tuple[Weights, Weights] = FITTED
) -> list[str]:
    """The product's scorer."""
    recent = [touch for each in event.before[-LATEST:] for touch in each.touches()]
    touches = event.named(opened)
    near = event.near(opened, touches)
    found = likely_needed(
        opened=opened,
        touches=touches,
        near=near,
        touches_near=event.named(near),
        recent=recent,
        models=models,
    )
    return [str(each.key) for each in found]


def shares_found(history: Sequence[Commit], rank: Ranker) -> str:
    """The shares of all needed commits among the first 20 and 50, for reading."""
    hits, needed = np.zeros((2, len(LIMITS))), 0
    for event in events(history):
        needed += len(event.commit.needed)
        paths = event.commit.paths
        for row, opened in enumerate((paths[:1], paths)):
            ranked = list(rank(event, opened))
            hits[row] += [len(event.commit.needed.intersection(ranked[:most])) for most in LIMITS]
    first, first_50, last, last_50 = (hits / max(1, needed)).ravel()
    return (
        f"first file {first:.3f} at 20, {first_50:.3f} at 50;"
        f" all files {last:.3f} at 20, {last_50:.3f} at 50"
    )


def prediction(history: Sequence[Commit]) -> None:
    """Prints the shares that prediction and the baselines find."""
    for rank in (by_latest, by_latest_of_files, by_ownership):
        print(f"{rank.__name__:20}{shares_found(history, rank)}")


def fitted(histories: Sequence[Sequence[Commit]]) -> tuple[Weights, Weights]:
    """The weights of both models; the second reads what the first one says."""
    rows: Rows = []
    for event in (event for history in histories for event in events(history)):
        for path in event.commit.paths:
            found = features_of_one(path=path, touches=event.named([path]))
            rows += [(row, key in event.commit.needed) for key, row in found.items()]
    of_one, rows = _logistic(rows), []
    for event in (event for history in histories for event in events(history)):
        paths = event.commit.paths
        for opened in {paths[:1], paths}:
            both = features_of_all(opened=opened, touches=event.named(opened), of_one=of_one)
            rows += [(row, key in event.commit.needed) for key, (row, _) in both.items()]
    return of_one, _logistic(rows)


def _logistic(rows: Rows) -> Weights:
    """Newton's method on standardised features with a small ridge."""
    features: NDArray[np.float64] = np.array([row for row, _ in rows])
    labels = np.array([float(label) for _, label in rows])
    mean, spread = features.mean(0), features.std(0) + 1e-9
    scaled = np.hstack([np.ones((len(rows), 1)), (features - mean) / spread])
    found = np.zeros(scaled.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-scaled @ found))
        slope = scaled.T @ (chance - labels) / len(rows) + 1e-3 * found
        bend = (scaled * (chance * (1 - chance))[:, None]).T @ scaled / len(rows)
        found -= np.linalg.solve(bend + 1e-3 * np.eye(len(found)), slope)
    plain = found[1:] / spread
    return tuple(round(float(each), 4) for each in [found[0] - (plain * mean).sum(), *plain])


def fit(histories: dict[str, list[Commit]], *, does_write: bool) -> None:
    """Prints what a fit on each history scores on each, and writes the fit on all if asked to."""
    for fitted_on, history in histories.items():
        rank = partial(by_ownership, models=fitted([history]))
        for name, other in histories.items():
            print(f"fit on {fitted_on}, run on {name}: {shares_found(other, rank)}")
    if does_write:
        file = Path(weights.__file__)
        head = file.read_text().partition("OF_ONE_FILE")[0]
        models = zip(("OF_ONE_FILE", "OF_ALL_FILES"), fitted([*histories.values()]), strict=True)
        file.write_text(head + "".join(f"{name}: Final = {values}\n" for name, values in models))


class Store:
    """A throwaway team that knows a history up to its last commits."""

    def __init__(self, commits: Sequence[Commit]) -> None:
        self.tools = default_tools()
        self.known: dict[str, UUID] = {}
        self.writer = new_team("context")
        self.add(commits)
        own = {"team_id": self.writer.team_id}
        with scope_of(self.writer):
            ensure_agent(**own, slug="coder")
            agent = Agent.objects.get(**own, slug="coder")
            project = Project.objects.get(**own, slug="history")
            # Nothing is archived, so that what is needed is there.
            Project.objects.filter(pk=project.pk).update(max_items=100_000)
        self.viewer = replace(self.writer, agent_id=agent.pk, project_id=project.pk)
        embed_pending(tools=self.tools, seconds=math.inf)
        extend_vector_graphs(fresh=0)
        analyse()

    def add(self, commits: Sequence[Commit]) -> None:
        """Writes the commits as memories."""
        for begin in range(0, len(commits), BATCH):
            part = commits[begin : begin + BATCH]
            rows = remember(
                viewer=self.writer,
                stated=[each.stated() for each in part],
                tools=self.tools,
                now=timezone.now(),
            )
            self.known |= {c.sha: row.memory.pk for c, row in zip(part, rows, strict=True)}

    def needed(self, commit: Commit) -> set[UUID]:
        """The memories of the commits that it needs."""
        return {self.known[sha] for sha in commit.needed if sha in self.known}

    def assembled(self, signals: Signals, *, budget: int = DEFAULT_BUDGET) -> WorkingContext:
        """The context of these signals."""
        return assemble_context(
            viewer=self.viewer,
            signals=signals,
            collaborator_id=None,
            weights=Scoring(),
            token_budget=budget,
            counter=ESTIMATE,
            tools=self.tools,
            now=timezone.now(),
        )

    def said_of(self, commit: Commit, given: Signals) -> tuple[int, int, int]:
        """Needed commits predicted, lines told that touch the commit, and all those lines."""
        own, now = named_alone(self.viewer), timezone.now()
        guesses = predict(viewer=own, signals=given, tools=self.tools, now=now, is_kept=False)
        by_tier = self.touching(commit, self.assembled(given))
        lines = by_tier[ContextTier.CRITICAL] + by_tier[ContextTier.RELEVANT]
        hits = self.needed(commit).intersection(each.memory_id for each in guesses)
        return len(hits), sum(lines), len(lines)

    def touching(self, commit: Commit, made: WorkingContext) -> dict[ContextTier, list[bool]]:
        """Returns for each line of each tier whether it names a file of the commit."""
        with scope_of(self.writer):
            files = files_of(team_id=self.writer.team_id, ids=list(made.places))
        told: dict[ContextTier, list[bool]] = {tier: [] for tier in ContextTier}
        for key, place in made.places.items():
            told[place.tier].append(not set(commit.paths).isdisjoint(files.get(key, ())))
        return told

    def report(self, wanted: Iterable[UUID], given: Signals, at: datetime) -> None:
        """Reports that the memories were of use in such work."""
        with scope_of(self.writer):
            for memory in Memory.objects.filter(pk__in=wanted):
                note_useful(memory=memory, work=Work(given, at))

    def retrieved(self, viewer: Viewer, text: str, *, budget: int = DEFAULT_BUDGET) -> set[UUID]:
        """The memories that a retrieval with that budget returns."""
        found = prompt(
            Read(
                viewer=viewer,
                question=Question(text),
                depth=Depth(include_cold=False),
                tools=self.tools,
                now=timezone.now(),
            ),
            packing=Packing(weights=Scoring(), token_budget=budget),
        )
        return {each.row.memory_id for each in found.told}

    def begin_task(self, commit: Commit) -> None:
        """Begins the commit's task and notes its title."""
        now = timezone.now()
        begin_task(
            viewer=self.viewer, task_id=commit.sha, agent="coder", project="history", now=now
        )
        item = NewItem(ItemKind.REASONING, text=commit.title)
        add_item(viewer=self.viewer, task_id=commit.sha, item=item, now=now)

    def packaged(self, commit: Commit) -> object:
        """The context package of the commit's task."""
        request = PackageRequest(commit.sha, DEFAULT_BUDGET, ESTIMATE, ContextPolicy(), All())
        return context_package(
            viewer=self.viewer,
            request=request,
            weights=Scoring(),
            tools=self.tools,
            now=timezone.now(),
        )


def speed(store: Store, commits: Sequence[Commit]) -> None:
    """Prints the time of each kind of read for the same questions, and its ratio to `retrieve`."""
    own, tools = named_alone(store.viewer), store.tools
    kinds: dict[str, Callable[[Commit], object]] = {
        "retrieve": lambda each: store.retrieved(own, each.title),
        "context": lambda each: read_only_context(
            viewer=own,
            request=ContextRequest(Question(each.title)),
            weights=Scoring(),
            tools=tools,
            now=timezone.now(),
        ),
        "assemble": lambda each: store.assembled(each.signals()),
        "predict": lambda each: predict(
            viewer=own,
            signals=replace(each.signals(), query=""),
            tools=tools,
            now=timezone.now(),
        ),
        "package": store.packaged,
    }
    took: dict[str, list[float]] = {name: [] for name in kinds}
    commits = [each for each in commits if each.files]
    for commit in commits:
        store.begin_task(commit)
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


def budgets(store: Store, commits: Sequence[Commit]) -> None:
    """Prints what the context holds before each commit, by budget."""
    figures: dict[int, list[tuple[float, ...]]] = {budget: [] for budget in BUDGETS}
    for commit in commits:
        needed = store.needed(commit)
        for budget, found in figures.items() if needed and commit.files else ():
            made = store.assembled(commit.signals(), budget=budget)
            usual = store.retrieved(named_alone(store.viewer), commit.title, budget=budget)
            told = len(needed & made.places.keys()) / len(needed)
            tokens = made.token_count - made.tiers[ContextTier.INDEX]
            whole = sum(estimate_tokens(each.memory.content) for each in made.retrieval.memories)
            found.append((told, len(needed & usual) / len(needed), tokens, whole))
        store.add([commit])
    print("by budget: recall, that of retrieve; tokens, those of the same texts in full, ratio")
    for budget, each in figures.items():
        told, usual, tokens, whole = np.mean(each, axis=0)
        print(
            f"{budget:>6}{told:>8.3f}{usual:>8.3f}{tokens:>8.0f}{whole:>8.0f}{tokens / whole:>8.2f}"
        )


def relevance(store: Store, commits: Sequence[Commit]) -> None:
    """Prints how much of what is told touches the commit, with its first file open."""
    told: dict[ContextTier, list[bool]] = defaultdict(list)
    needed, found, tokens = 0, 0, []
    for commit in commits:
        if commit.needed and commit.files:
            made = store.assembled(Signals(current_file=commit.paths[0], query=commit.title))
            tokens.append(made.token_count)
            needed += len(store.needed(commit))
            found += len(store.needed(commit) & made.places.keys())
            for tier, rows in store.touching(commit, made).items():
                told[tier] += rows
        store.add([commit])
    both = told[ContextTier.CRITICAL] + told[ContextTier.RELEVANT]
    print(
        f"critical {np.mean(told[ContextTier.CRITICAL] or 0):.2f}, relevant"
        f" {np.mean(told[ContextTier.RELEVANT] or 0):.2f}, both {np.mean(both or 0):.2f};"
        f" {found} of {needed} needed commits; {np.mean(tokens):.0f} tokens"
    )


def signals(store: Store, commits: Sequence[Commit]) -> None:
    """Prints what each signal adds to the others, and what it says alone."""
    told: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    needed = 0
    for commit in commits:
        wanted = store.needed(commit)
        if wanted and commit.files:
            needed += len(wanted)
            everything, none = commit.all_signals(), Signals()
            given = {"all": everything}
            for name, fields in SIGNALS.items():
                given[f"without {name}"] = _with(everything, none, fields)
                given[f"{name} alone"] = _with(none, everything, fields)
            for label, each in given.items():
                told[label].append(store.said_of(commit, each))
            store.report(wanted, everything, commit.at)
        store.add([commit])
    print(
        "needed commits among the first 20; share of critical and relevant that touches the commit"
    )
    for label, rows in told.items():
        hits, touching, lines = np.sum(rows, axis=0)
        print(f"{label:<22}{hits / max(1, needed):>7.3f}{touching / max(1, lines):>7.2f}")


def _with(base: Signals, other: Signals, fields: Sequence[str]) -> Signals:
    return replace(base, **{name: getattr(other, name) for name in fields})


def shares(store: Store, commits: Sequence[Commit]) -> None:
    """Prints the recall of the default shares by activity, and the difference of the others."""
    found: dict[Activity, list[list[float]]] = defaultdict(list)
    for commit in commits:
        kind, needed = commit.activity, store.needed(commit)
        if kind is not None and needed and commit.files:
            signals, row = replace(commit.signals(), activity=kind.value), []
            for each in TRIED.values():
                with mock.patch.dict(SHARES, {kind: each}):
                    row.append(len(needed & store.assembled(signals).places.keys()) / len(needed))
            found[kind].append(row)
        store.add([commit])
    print(f"{'':<10}{'commits':>8}" + "".join(f"{name:>18}" for name in TRIED))
    for kind, rows in found.items():
        told = np.array(rows)
        by = told - told[:, :1]
        error = by.std(axis=0) / np.sqrt(len(rows))
        others = zip(by.mean(axis=0)[1:], error[1:], strict=True)
        line = "".join(f"{mean:>+10.3f} ± {each:.3f}" for mean, each in others)
        print(f"{kind.value:<10}{len(rows):>8}{told[:, 0].mean():>18.3f}{line}")


def main() -> None:
    """Reads the command line, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--history", nargs="+", type=Path, required=True)
    parser.add_argument(
        "--only", nargs="*", default=["prediction", "speed", "budgets", "relevance", "shares"]
    )
    parser.add_argument("--commits", type=int, default=1_500, help="the last ones of a history")
    parser.add_argument("--asked", type=int, default=100, help="commits at the end that are asked")
    parser.add_argument("--write", action="store_true", help="write the weights of `fit`")
    given = parser.parse_args()
    histories = {each.stem: read_history(each)[-given.commits :] for each in given.history}
    for name, history in histories.items():
        print(f"{name}: {len(history)} commits")
        if "prediction" in given.only:
            prediction(history)
        for part in (speed, budgets, relevance, signals, shares):
            if part.__name__ in given.only:
                part(Store(history[: -given.asked]), history[-given.asked :])
    if "fit" in given.only:
        fit(histories, does_write=given.write)


if __name__ == "__main__":
    main()

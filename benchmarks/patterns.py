"""Is a learned pattern, where it is told, what is written next?

Run as ``python -m benchmarks.patterns --repository FOLDER [FOLDER ...]`` on local git repositories,
beside a running, migrated database that may be thrown away. The patterns of each are learned before
its last ``--commits`` commits that are no merges. Before each commit every file of code that it
changes is opened, with the subject as the query. A pattern is written if it stands more often in
the file after the commit. Printed for each rule of telling: how many patterns it told, what share
was written, and the lines of those beside the tokens of all.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from django.utils import timezone

from benchmarks.git_history import Repository
from benchmarks.ground import new_team, scope_of
from memory.domain.forms import Form
from memory.domain.rendering import ESTIMATE, estimate_tokens
from memory.domain.scoring import Weights
from memory.domain.types import Signals
from memory.models import Memory
from memory.satellites.plans.placing import DEFAULT_BUDGET
from memory.satellites.plans.working_context import assemble_context
from memory.satellites.workflows.parsing import UnreadableCodeError, parse_code
from memory.satellites.workflows.pattern_learning import MAX_FILE_CHARS, CodeFile, learn_patterns
from memory.satellites.workflows.shapes import Place, Shape, ShapeIndex
from memory.understanding.languages import language_of
from memory.understanding.tools import default_tools
from teams.models import Agent, Project
from teams.services.people import ensure_agent

PROJECT = "code"
BATCH, MOST_FILES = 200, 50
NEWEST = 20


class Code(Repository):
    """A repository with the texts of its files."""

    def at(self, sha: str) -> list[CodeFile]:
        """The files at a commit that patterns are learned from."""
        paths = self._git("ls-tree", "-r", "--name-only", sha).splitlines()
        texts = {path: self.text(sha, path) for path in paths if language_of(path)}
        return [CodeFile(*each) for each in texts.items() if len(each[1]) <= MAX_FILE_CHARS]

    def text(self, sha: str, path: str) -> str:
        """A file at a commit, empty where it is missing."""
        return self._git("show", f"{sha}:{path}")


@dataclass(slots=True)
class Rule:
    """The sums of one rule of telling."""

    name: str
    told: int = 0
    written: int = 0
    lines: int = 0
    tokens: int = 0

    def count(self, memories: Sequence[Memory], written: dict[UUID, int]) -> None:
        """Adds what was told in one file; `written` has the new lines of each pattern."""
        self.told += len(memories)
        self.written += sum(each.pk in written for each in memories)
        self.lines += sum(written.get(each.pk, 0) for each in memories)
        self.tokens += sum(estimate_tokens(f"[PATTERN]: {each.content}\n") for each in memories)


def places_in(path: str, text: str, shapes: dict[UUID, Shape]) -> dict[UUID, list[Place]]:
    """Returns the places of each pattern in a file."""
    index = ShapeIndex()
    found: dict[UUID, list[Place]] = defaultdict(list)
    try:
        index.add(parse_code(path=path, text=text))
    except UnreadableCodeError:
        return {}
    for digest, places in index.groups(known=frozenset(each.digest for each in shapes.values())):
        for key, shape in shapes.items():
            if shape.digest == digest:
                found[key] += [place for place in places if shape.fits(place)]
    return found


def measure(repository: Code, most: int) -> tuple[int, int, list[Rule]]:
    """The patterns learned, the files opened, and the rules of telling with their sums."""
    first, *later = repository.commits(most + 1)
    tools, writer, code = default_tools(), new_team("patterns"), repository.at(first[0])
    for begin in range(0, len(code), BATCH):
        while learn_patterns(
            viewer=writer,
            project=PROJECT,
            files=code[begin : begin + BATCH],
            tools=tools,
            now=timezone.now(),
        ).new:
            pass
    with scope_of(writer):
        ensure_agent(team_id=writer.team_id, slug="coder")
        agent = Agent.objects.get(team_id=writer.team_id, slug="coder")
        project = Project.objects.get(team_id=writer.team_id, slug=PROJECT)
        rows = Memory.objects.live().filter(team_id=writer.team_id, form=Form.PATTERN)
        patterns = {row.pk: row for row in rows.order_by("-pk")}
    viewer = replace(writer, agent_id=agent.pk, project_id=project.pk)
    shapes = {key: Shape(row.payload["shape"]) for key, row in patterns.items()}
    everywhere, here, opened = Rule(f"newest {NEWEST}"), Rule("as told"), 0
    for sha, _, subject in later:
        for path in (path for path, *_ in repository.files(sha, MOST_FILES) if language_of(path)):
            texts = repository.text(f"{sha}~1", path), repository.text(sha, path)
            if not all(texts):
                continue
            before, after = (places_in(path, text, shapes) for text in texts)
            written = {
                key: new * (places[0].last_line - places[0].first_line + 1)
                for key, places in after.items()
                if (new := len(places) - len(before.get(key, ()))) > 0
            }
            found = assemble_context(
                viewer=viewer,
                signals=Signals(current_file=path, query=subject),
                collaborator_id=None,
                weights=Weights(),
                token_budget=DEFAULT_BUDGET,
                counter=ESTIMATE,
                tools=tools,
                now=timezone.now(),
            )
            opened += 1
            everywhere.count(list(patterns.values())[:NEWEST], written)
            here.count([patterns[key] for key in found.places if key in patterns], written)
    return len(patterns), opened, [everywhere, here]


def main() -> None:
    """Prints the figures; see the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, nargs="+", required=True)
    parser.add_argument("--commits", type=int, default=200)
    options = parser.parse_args()
    for folder in options.repository:
        patterns, opened, rules = measure(Code(folder), options.commits)
        print(f"{folder}: {patterns} patterns, {opened} files opened")
        for each in rules:
            share = each.written / max(1, each.told)
            print(
                f"  {each.name:10} told {each.told}, written {share:.1%},"
                f" {each.lines} lines for {each.tokens} tokens"
            )


if __name__ == "__main__":
    main()

"""Turns a local git repository into a history for benchmarks/coding_context.py.

`python -m benchmarks.git_history --repository FOLDER --to FILE [--commits 1500] [--files 199]`

Takes the last commits that are no merges. What a commit needs is found by `git blame` of its
parent, over the lines that it removes or changes, without white space; of a commit with more files
the most changed are taken, and files that are no text or very long are not blamed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Final

from memory.satellites.plans.imports import imports_of

_SHA: Final = 12
_SUBJECT: Final = 200
# Blame of a longer file takes seconds, and such files are mostly generated.
_MOST_LINES: Final = 20_000
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? ")
_BLAMED: Final = re.compile(r"^([0-9a-f]{40}) \d+ \d+")


class Repository:
    """The git commands that a history is made of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def commits(self, most: int) -> list[tuple[str, str, str]]:
        """Hash, time and subject of the last commits that are no merges, oldest first."""
        log = self._git(
            "log", "--no-merges", "--topo-order", f"-{most}", "--format=%H%x00%cI%x00%s"
        )
        lines = [line.split("\0") for line in log.splitlines()]
        return [(sha, at, subject[:_SUBJECT]) for sha, at, subject in reversed(lines)]

    def files(self, sha: str, most: int) -> list[tuple[str, int, int]]:
        """Path, lines added and removed of the most changed files of text."""
        shown = self._git("show", "--no-renames", "--numstat", "--format=", "-z", sha)
        found = []
        for row in filter(None, shown.split("\0")):
            added, removed, path = row.split("\t", 2)
            if added != "-":
                found.append((path, int(added), int(removed)))
        return sorted(found, key=lambda each: -(each[1] + each[2]))[:most]

    def needed(self, sha: str, path: str) -> Counter[str]:
        """The commits that the file's lines that are changed or removed came from, with lines."""
        diff = self._git("diff", "-w", "-U0", "--no-renames", f"{sha}~1", sha, "--", path)
        spans = []
        for line in diff.splitlines():
            if hunk := _HUNK.match(line):
                start, count = int(hunk[1]), int(hunk[2] or 1)
                if count:
                    spans += ["-L", f"{start},{start + count - 1}"]
        if not spans:
            return Counter()
        blame = self._git("blame", "-w", "--porcelain", *spans, f"{sha}~1", "--", path)
        return Counter(match[1] for line in blame.splitlines() if (match := _BLAMED.match(line)))

    def imports(self, sha: str, path: str) -> tuple[str, ...]:
        """Returns the modules that the file imported before the commit."""
        return imports_of(path=path, text=self._git("show", f"{sha}~1:{path}"))

    def is_long(self, sha: str, path: str) -> bool:
        """Returns whether the file was too long to blame before the commit, or missing."""
        before = self._git("show", f"{sha}~1:{path}")
        return not before or before.count("\n") > _MOST_LINES

    def _git(self, *words: str) -> str:
        """Returns git's output; empty where git fails, as for a commit without a parent."""
        command = ["git", "-C", str(self._folder), "-c", "core.quotePath=false", *words]
        ran = subprocess.run(command, capture_output=True, check=False)
        return ran.stdout.decode(errors="replace") if ran.returncode == 0 else ""


def main() -> None:
    """Writes the history; see the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=1500)
    parser.add_argument("--files", type=int, default=199)
    options = parser.parse_args()
    repository = Repository(options.repository)
    commits = repository.commits(options.commits)
    known = {sha for sha, _, _ in commits}
    with options.to.open("w") as out:
        for sha, at, subject in commits:
            files = repository.files(sha, options.files)
            needed: Counter[str] = Counter()
            for path, _, removed in files:
                if removed and not repository.is_long(sha, path):
                    needed += repository.needed(sha, path)
            line = {
                "sha": sha[:_SHA],
                "at": at,
                "subject": subject,
                "body": "",
                "files": [{"path": p, "added": a, "removed": r} for p, a, r in files],
                "imports": repository.imports(sha, files[0][0]) if files else [],
                "needed": {each[:_SHA]: n for each, n in needed.items() if each in known},
            }
            out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()

"""The examples of the documents: found in their Markdown, and run as one script a page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from config.embedded import PROJECT_ROOT
from tests.support.command_server import CommandServer

SHELL, PYTHON = frozenset({"sh", "shell", "bash"}), frozenset({"python"})
# What is shown and never run; any other name of a language is refused.
SHOWN = frozenset(
    {"dockerfile", "ini", "js", "json", "jsonl", "mermaid", "sql", "text", "toml", "ts", "yaml"}
)
# Shell in a comment of the Markdown: what a page takes for granted, and checks of what it says.
_HIDDEN = re.compile(r"<!-- run\n(.*?)-->", re.S)
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_FUNCTIONS = re.compile(r"^\w+\(\) \{.*\}$", re.M)
# A page's examples may not take longer than this, in seconds.
_MOST_SECONDS = 120


@dataclass(frozen=True)
class Example:
    """A fenced block: where it begins, its language, its attributes and its text."""

    page: Path
    line: int
    language: str
    attributes: Mapping[str, str]
    text: str

    @property
    def place(self) -> str:
        """Page and line."""
        return f"{os.path.relpath(self.page, PROJECT_ROOT)}:{self.line}"

    @property
    def is_program(self) -> bool:
        """Returns whether the example is shell or Python."""
        return self.language in SHELL | PYTHON

    @property
    def is_run(self) -> bool:
        """Returns whether the tests run the example."""
        return self.is_program and "no-run" not in self.attributes


def pages() -> list[Path]:
    """The README, the client's, the satellites' and every document but what `make docs` writes."""
    found = [PROJECT_ROOT / "README.md", PROJECT_ROOT / "clients" / "python" / "README.md"]
    documents = sorted((PROJECT_ROOT / "docs").rglob("*.md"))
    found += [each for each in documents if each.parent.name != "reference"]
    return [*found, *sorted((PROJECT_ROOT / "memory" / "satellites").glob("*/docs.md"))]


def examples(page: Path) -> Iterator[Example]:
    """The fenced blocks of a page, in order."""
    for token in MarkdownIt().parse(page.read_text()):
        line = (token.map or [0])[0] + 1
        if hidden := token.type == "html_block" and _HIDDEN.match(token.content):
            yield Example(page, line, "sh", {}, hidden[1])
        if token.type == "fence" and not token.info.startswith("{"):
            language, _, rest = token.info.strip().partition(" ")
            yield Example(page, line, language, dict(_ATTRIBUTE.findall(rest)), token.content)


def run_page(
    page: Path, *, url: str, commands: CommandServer, key: str, team: str, folder: Path
) -> None:
    """Run a page's examples in order as one script in `folder`.

    The address and key of the text are this server's, and its team is `team`; `commands` runs
    what is asked of manage.py. Fails where a command does, or a request is refused.
    """
    script = [
        "set -euo pipefail",
        # So that a request that is refused fails, however it is written.
        'curl() { command curl -sS --fail-with-body "$@"; }',
        f"KEY={key} PALIMPSEST_KEY={key} PALIMPSEST_URL={url} API={url}/v1",
        commands.shell_function,
        *_FUNCTIONS.findall((PROJECT_ROOT / "README.md").read_text()),
    ]
    for each in examples(page):
        text = _here(each.text, url=url, key=key, team=team)
        if name := each.attributes.get("file"):
            (folder / name).write_text(text)
        if each.is_run:
            script.append(f"echo '-- {each.place}' >&2")
            is_shell = each.language in SHELL
            script.append(
                text if is_shell else f"{sys.executable} - <<'END OF CODE'\n{text}END OF CODE"
            )
    said = folder / "said.txt"
    with said.open("w") as out:
        process = subprocess.Popen(
            ["bash", "-c", "\n".join(script)],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(PROJECT_ROOT / "clients" / "python"),
                "MEM0_TELEMETRY": "False",
                "MEM0_DIR": str(folder / "mem0"),
                "HOME": str(folder),
            },
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
        )
        code = commands.serve_until_end(process, seconds=_MOST_SECONDS)
    assert code == 0, said.read_text()


def _here(text: str, *, url: str, key: str, team: str) -> str:
    told = re.sub(r"http://(127\.0\.0\.1|localhost):8000", url, text)
    told = told.replace(".venv/bin/python manage.py", "manage")
    return told.replace("--team acme", f"--team {team}").replace("pal_…", key)

"""Session files of Claude Code and Codex: what was said, which files were changed, what failed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CLAUDE, CODEX = "claude-code", "codex"
MOST_CHARS = 32_000
_MOST_ERROR_CHARS = 2_000
_EDITING_TOOLS = {"Edit", "MultiEdit", "Write", "NotebookEdit"}
# Beginnings of what Claude Code and its extensions write in the user's place: slash commands, shell
# commands with their output, interruptions, files that are open in the editor.
_NOT_TYPED = (
    *("<command-", "<local-command-", "<task-notification>", "<system-reminder>"),
    *("<bash-input>", "<bash-stdout>", "<bash-stderr>", "<user-memory-input>"),
    *("<ide_selection>", "<ide_opened_file>", "<ide_diagnostics>", "<teammate-message"),
    "[Request interrupted by user",
)
_COMMAND = re.compile(r"<command-(name|args)>(.*?)</command-\1>", re.DOTALL)
_FAILED_COMMAND = re.compile(r"(?:Exit code:|Process exited with code) (?!0\b)\d+")
Record = dict[str, Any]  # Any: JSON that another program wrote


@dataclass(frozen=True)
class Said:
    """A message, with the id that its session file gives it."""

    id: str | None
    role: str
    content: str
    at: str | None = None


@dataclass
class Change:
    """The files that were changed after one prompt; `id` is that of the first change."""

    id: str
    prompt: str
    files: list[str] = field(default_factory=list)


@dataclass
class Session:
    """Contents of a session file from some byte on; `end` is the byte to go on from."""

    agent: str = CLAUDE
    id: str = ""
    folder: str = ""
    is_subagent: bool = False
    messages: list[Said] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    # Words of the agent without a stop reason: narration if a tool follows, else an answer.
    held: list[Said] = field(default_factory=list)
    end: int = 0

    def say(self, each: Said) -> None:
        """Adds a message that has words."""
        content = clean(each.content)
        if content.strip():
            self.messages.append(Said(each.id, each.role, content, each.at))

    def say_held(self) -> None:
        """Adds what was held: no tool followed."""
        for each in self.held:
            self.say(each)
        self.held.clear()

    def change(self, at: str, files: list[str]) -> None:
        """Adds changed files to those of the latest prompt."""
        prompts = [each for each in self.messages if each.role == "user"]
        prompt = prompts[-1].content if prompts else ""
        if not self.changes or self.changes[-1].prompt != prompt:
            self.changes.append(Change(at, prompt))
        known = self.changes[-1].files
        known += [each for each in dict.fromkeys(files) if each not in known]

    def fail(self, error: str) -> None:
        """Adds an error that a tool answered with."""
        if text := clean(error)[:_MOST_ERROR_CHARS].strip():
            self.errors.append(text)


def clean(text: str) -> str:
    """Returns the text without what the server refuses: NUL, half surrogates, excessive length."""
    return text.replace("\0", "").encode(errors="replace").decode()[:MOST_CHARS]


def read_session(path: Path, *, start: int = 0, is_turn_over: bool = True) -> Session:
    """Reads a session file from this byte on, up to its last whole line.

    Within a turn, up to the words that a tool may still follow, if these are last.
    Lines of unknown kinds are skipped, since neither format is guaranteed by its maker.
    """
    session = Session(end=start)
    held_at = start
    with path.open("rb") as file:
        if start > path.stat().st_size:
            session.end = 0
        file.seek(session.end)
        for line in file:
            if not line.endswith(b"\n"):
                break
            held_at = held_at if session.held else session.end
            session.end += len(line)
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                _note(session, record, hashlib.sha256(line).hexdigest()[:32])
    if is_turn_over:
        session.say_held()
    elif session.held:
        session.end = held_at
    return session


def _note(session: Session, record: Record, digest: str) -> None:
    payload = record.get("payload")
    if isinstance(payload, dict):
        session.agent = CODEX
        _note_codex(session, record, payload, digest)
    elif isinstance(record.get("message"), dict) and not record.get("isSidechain"):
        session.id = session.id or str(record.get("sessionId") or "")
        session.folder = session.folder or str(record.get("cwd") or "")
        _note_claude(session, record, record["message"], str(record.get("uuid") or digest))


def _note_claude(session: Session, record: Record, message: Record, at: str) -> None:
    role, content = record.get("type"), message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = [each for each in content or [] if isinstance(each, dict)]
    texts = _texts(blocks) if role == "assistant" else map(_typed, _texts(blocks))
    text = "\n\n".join(filter(None, texts))
    has_tool = any(each.get("type") in ("tool_use", "tool_result") for each in blocks)
    has_tool = has_tool or message.get("stop_reason") == "tool_use"
    if has_tool:
        session.held.clear()
    if role == "assistant":
        for block in blocks:
            if block.get("type") == "tool_use" and block.get("name") in _EDITING_TOOLS:
                session.change(at, files_of_tool(block.get("input")))
    else:
        for block in blocks:
            refused = str(record.get("toolUseResult") or "").startswith("User rejected")
            if block.get("type") == "tool_result" and block.get("is_error") and not refused:
                session.fail(text_of(block.get("content")))
    is_made = any(record.get(name) for name in ("isMeta", "isCompactSummary", "isApiErrorMessage"))
    if role not in ("user", "assistant") or is_made or not text.strip():
        return
    said = Said(at, role, text, record.get("timestamp"))
    if role == "user":
        session.say_held()
        session.say(said)
    elif not has_tool:
        # Each block is a record of its own, most without a stop reason.
        session.held.append(said)
        if message.get("stop_reason"):
            session.say_held()


def _typed(text: str) -> str:
    """Returns the words of a text block that the person typed, "" where there are none."""
    command = {name: words.strip() for name, words in _COMMAND.findall(text)}
    if text.startswith("<command-") and command.get("args"):
        return f"{command.get('name', '')} {command['args']}".strip()
    return "" if text.startswith(_NOT_TYPED) else text


def _note_codex(session: Session, record: Record, payload: Record, digest: str) -> None:
    kind, at = payload.get("type"), record.get("timestamp")
    if record.get("type") == "session_meta":
        session.id = session.id or str(payload.get("id") or "")
        session.folder = session.folder or str(payload.get("cwd") or "")
        session.is_subagent = isinstance(payload.get("source"), dict)
    elif kind == "user_message":
        session.say(Said(digest, "user", str(payload.get("message") or ""), at))
    elif kind == "message" and payload.get("role") == "assistant":
        if payload.get("phase") != "commentary":
            text = "\n\n".join(_texts(payload.get("content") or []))
            session.say(Said(str(payload.get("id") or digest), "assistant", text, at))
    elif kind == "item_completed":
        item = payload.get("item") or {}
        if item.get("type") == "UserMessage":
            text = "\n\n".join(_texts(item.get("content") or []))
            session.say(Said(digest, "user", text, at))
        elif item.get("type") == "FileChange":
            session.change(digest, list(item.get("changes") or {}))
    elif kind == "patch_apply_end" and payload.get("success"):
        session.change(digest, list(payload.get("changes") or {}))
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = payload.get("output")
        if text := failed_output(output):
            session.fail(text)


def failed_output(output: object) -> str:
    """Returns the text of a Codex tool's output that says it failed, else ""."""
    if isinstance(output, str):
        with suppress(ValueError):
            output = json.loads(output)
    if isinstance(output, dict):
        code = (output.get("metadata") or {}).get("exit_code", output.get("exit_code"))
        return text_of(output.get("output")) if code not in (None, 0) else ""
    text = text_of(output)
    return text if _FAILED_COMMAND.match(text) else ""


def files_of_tool(given: object) -> list[str]:
    """Returns the file that an editing tool's input names."""
    named = given if isinstance(given, dict) else {}
    return [str(named[name]) for name in ("file_path", "notebook_path") if named.get(name)]


def text_of(content: object) -> str:
    """Returns the text of a content that is a text or a list of blocks."""
    return "\n".join(_texts(content)) if isinstance(content, list) else str(content or "")


def _texts(blocks: list[Record]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]


def session_files(*, claude: Path, codex: Path) -> list[Path]:
    """Returns all session files of both agents on this machine, the oldest first."""
    found = [*claude.glob("projects/*/*.jsonl"), *codex.glob("sessions/**/rollout-*.jsonl")]
    return sorted(found, key=lambda each: each.stat().st_mtime)

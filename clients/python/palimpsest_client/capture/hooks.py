"""Hooks: the context at the start, and what was said, changed and failed after it."""

from __future__ import annotations

import getpass
import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path

from palimpsest_client.capture.sessions import (
    CLAUDE,
    CODEX,
    Said,
    Session,
    files_of_tool,
    read_session,
    text_of,
)
from palimpsest_client.capture.spool import (
    Api,
    CaptureError,
    Config,
    Entry,
    Json,
    RefusedError,
    Spool,
    write_private,
)

IGNORE_FILE = ".palimpsestignore"
# Claude Code shows a longer context as a preview alone.
MOST_CONTEXT_CHARS = 10_000
# A request may have 2,000,000 characters: 62 of the longest messages.
_MOST_FILES, _MOST_ERRORS, _PER_CALL, _TITLE_CHARS = 50, 10, 60, 400
_LEAST_BUDGET = 100
# The agent may take over at any time, so its session is extracted then.
_ENDS = ("PreCompact", "SessionEnd", "end")
# The person waits for the answer to a prompt, and the next hook sends it.
_QUICK = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure")


@dataclass(frozen=True)
class Repository:
    """The workplace of a session: root and name of its repository, or of its folder."""

    root: Path
    name: str
    branch: str = ""
    person: str = ""
    person_name: str = ""

    def own(self, files: Sequence[str]) -> list[str]:
        """Returns the files below the root from there on, without the ignored ones."""
        found = []
        for each in files:
            path = Path(each) if Path(each).is_absolute() else self.root / each
            if path.is_relative_to(self.root):
                found.append(path.relative_to(self.root).as_posix())
        ignored = self._ignored()
        return [each for each in dict.fromkeys(found) if not _matches(each, ignored)]

    @property
    def is_left_out(self) -> bool:
        """Returns whether `*` in the ignore file takes the whole project out."""
        return "*" in self._ignored()

    def _ignored(self) -> list[str]:
        try:
            lines = (self.root / IGNORE_FILE).read_text().splitlines()
        except OSError:
            return []
        return [each.strip() for each in lines if each.strip() and not each.startswith("#")]


def _matches(file: str, patterns: Sequence[str]) -> bool:
    parts = Path(file).parts
    return any(
        fnmatch(file, each.strip("/"))
        or any(fnmatch(part, each.strip("/")) for part in parts)
        or file.startswith(f"{each.strip('/')}/")
        for each in patterns
    )


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(folder), *arguments],  # noqa: S607  # the person's own git
            capture_output=True,
            check=False,
            timeout=2,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


def repository_of(folder: str) -> Repository:
    """Returns the repository of a folder, which need not be one, nor exist any more."""
    given = Path(folder or ".").absolute()
    root = Path(_git(given, "rev-parse", "--show-toplevel").strip() or given)
    named = ("^remote\\.origin\\.url$|^user\\.(email|name)$",)
    lines = _git(given, "config", "--get-regexp", *named).splitlines()
    values = dict(each.split(" ", 1) for each in lines if " " in each)
    origin = values.get("remote.origin.url", "").rstrip("/").removesuffix(".git")
    name = origin.replace(":", "/").rsplit("/", 1)[-1] or root.name or "project"
    return Repository(
        root,
        name[:100],
        _git(given, "symbolic-ref", "--short", "-q", "HEAD").strip(),
        values.get("user.email", ""),
        values.get("user.name", ""),
    )


def open_files(place: Repository) -> list[str]:
    """Returns the files that git says are changed, the latest change first."""
    entries = iter(_git(place.root, "status", "--porcelain", "-z", "-uall").split("\0"))
    paths = []
    for entry in entries:
        if len(entry) > 3:
            paths.append(place.root / entry[3:])
            if entry[0] in "RC":
                next(entries, "")
    there = [each for each in paths if each.is_file()]
    there.sort(key=lambda each: -each.stat().st_mtime)
    return place.own([str(each) for each in there])[:_MOST_FILES]


def parties_of(agent: str, place: Repository, config: Config) -> Json:
    """Returns agent, person and project as every request names them."""
    person = config.person or place.person or getpass.getuser()
    return {"agent": config.agent or agent, "user": person, "project": place.name}


def context_of(agent: str, place: Repository, *, config: Config, server: Api) -> str:
    """Returns the context of the work in hand, "" where the server knows nothing of it yet."""
    signals: Json = {"branch": place.branch[:250]} if place.branch else {}
    if files := [each for each in open_files(place) if len(each) <= 500]:
        signals |= {"current_file": files[0], "opened_files": files[1:]}
    work = {**parties_of(agent, place, config), "budget": config.budget, "signals": signals}
    try:
        text = str(server.ask("POST", "/v1/context/assemble", work).get("context") or "")
    except RefusedError as error:
        if error.status == 404:
            return ""
        raise
    if len(text) > MOST_CONTEXT_CHARS:
        text = text[:MOST_CONTEXT_CHARS].rsplit("\n", 1)[0]
    return text


def entry_of(
    session: Session, place: Repository, *, config: Config, is_end: bool = False
) -> Entry | None:
    """Returns the requests that store what was read of a session, None if that is nothing."""
    parties = parties_of(session.agent, place, config)
    calls: list[tuple[str, Json]] = []
    for at in range(0, len(session.messages), _PER_CALL):
        messages = [_message(each) for each in session.messages[at : at + _PER_CALL]]
        calls.append(("/v1/conversations/{id}/messages", {"messages": messages}))
    if is_end:
        calls.append(("/v1/conversations/{id}/extract", {}))
    for change in session.changes:
        files = [each for each in place.own(change.files) if len(each) <= 500][:_MOST_FILES]
        if files:
            calls.append(
                ("/v1/memories", _episode(session, change.id, change.prompt, files, parties))
            )
    if session.errors:
        signals: Json = {"recent_errors": session.errors[-_MOST_ERRORS:]}
        if place.branch:
            signals["branch"] = place.branch[:250]
        # The server notes the errors of this agent for a day; the context itself is not needed.
        body = {**parties, "budget": _LEAST_BUDGET, "signals": signals}
        calls.append(("/v1/context/assemble", body))
    if not calls:
        return None
    names = {"user_name": place.person_name} if place.person_name and not config.person else {}
    return Entry({**parties, **names, "thread_id": session.id[:200]}, calls)


def _message(said: Said) -> Json:
    named = {"external_id": said.id, "created_at": said.at}
    return {
        "role": said.role,
        "content": said.content,
        **{name: value for name, value in named.items() if value},
    }


def _episode(session: Session, at: str, prompt: str, files: list[str], parties: Json) -> Json:
    told = ", ".join(files[:5]) + (f" and {len(files) - 5} more" if len(files) > 5 else "")
    asked = " ".join(prompt.split())
    title = f"Changed {told}" + (f": {asked}" if asked else "")
    return {
        **parties,
        "form": "episode",
        "importance": 4,
        "external_id": sha256(f"{session.id}:{at}".encode()).hexdigest(),
        "payload": {
            "title": title[:_TITLE_CHARS],
            "artifacts": [{"kind": "file", "ref": each} for each in files],
        },
    }


def run_hook(
    payload: Json, *, agent: str, config: Config, server: Api, codex: Path, until: float
) -> tuple[str, str]:
    """Does what the hook is for; returns its stdout, and what to tell the person on stderr."""
    event = str(payload.get("hook_event_name") or payload.get("type") or payload.get("event") or "")
    place = repository_of(str(payload.get("cwd") or ""))
    if place.is_left_out or payload.get("agent_id"):
        return "", ""
    spool = Spool(config.home)
    if event in ("SessionStart", "start"):
        try:
            told = spool.send(server, until=until)
        except OSError as error:
            told = f"{error}; nothing was sent"
        context = context_of(agent, place, config=config, server=server)
        return _output(agent, context), told
    _store(payload, event, agent, place, config=config, codex=codex)
    return "", "" if event in _QUICK else spool.send(server, until=until)


def _output(agent: str, context: str) -> str:
    if not context or agent not in (CLAUDE, CODEX):
        return context
    told = {"hookEventName": "SessionStart", "additionalContext": context}
    return json.dumps({"hookSpecificOutput": told})


def _store(
    payload: Json, event: str, agent: str, place: Repository, *, config: Config, codex: Path
) -> None:
    """Spools what the session file says since the last hook, or the payload where there is none."""
    name = payload.get("session_id") or payload.get("thread-id") or payload.get("session")
    if not name:
        raise CaptureError("the hook's JSON names no session_id")
    path = _session_file(payload, str(name), codex)
    if path is None and payload.get("transcript_path"):
        # The file is still to be written, with ids of its own for the same messages.
        return
    if path is None:
        session = _session_of_payload(payload, event)
    else:
        state = config.home / "sessions" / sha256(str(path).encode()).hexdigest()[:32]
        is_turn_over = event not in (*_QUICK, "PreCompact")
        session = read_session(path, start=_byte_in(state), is_turn_over=is_turn_over)
    session.agent, session.id = agent, str(name)
    if entry := entry_of(session, place, config=config, is_end=event in _ENDS):
        Spool(config.home).add(entry)
    if path is not None:
        # After the entry: a hook that is stopped between the two reads the same lines again.
        write_private(state, str(session.end))


def _byte_in(state: Path) -> int:
    """Returns the byte to go on from; from the first one, nothing is stored twice."""
    try:
        return int(state.read_text())
    except (FileNotFoundError, ValueError):
        return 0


def _session_file(payload: Json, name: str, codex: Path) -> Path | None:
    if given := payload.get("transcript_path"):
        path = Path(str(given)).expanduser()
        return path if path.is_file() else None
    if payload.get("type") == "agent-turn-complete":
        return next(iter(sorted(codex.glob(f"sessions/*/*/*/rollout-*{name}.jsonl"))), None)
    return None


def _session_of_payload(payload: Json, event: str) -> Session:
    session = Session()
    turn = payload.get("turn_id") or payload.get("turn-id") or payload.get("prompt_id")
    ids = {role: f"{turn}:{role}" if turn else None for role in ("user", "assistant")}
    prompts = payload.get("input-messages") or [payload.get("prompt")]
    if prompt := "\n\n".join(str(each) for each in prompts if each):
        session.say(Said(ids["user"], "user", prompt))
    answer = payload.get("last_assistant_message") or payload.get("last-assistant-message")
    if answer:
        session.say(Said(ids["assistant"], "assistant", str(answer)))
    for each in payload.get("messages") or []:
        role, content = str(each.get("role")), str(each.get("content") or "")
        session.say(Said(each.get("id"), role, content, each.get("at")))
    used = str(payload.get("tool_use_id") or turn or time.time_ns())
    files = payload.get("files") or (
        files_of_tool(payload.get("tool_input")) if event == "PostToolUse" else []
    )
    if files:
        session.change(used, [str(each) for each in files])
    errors = payload.get("errors") or [payload.get("error")]
    for each in errors:
        if each:
            session.fail(text_of(each))
    return session

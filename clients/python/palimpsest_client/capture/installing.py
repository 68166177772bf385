"""Writes the hooks into the settings of coding agents, and restores those."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from palimpsest_client.capture.sessions import CLAUDE
from palimpsest_client.capture.spool import CaptureError, Json, write_private

EVENTS = {
    "claude-code": ("SessionStart", "Stop", "PreCompact", "SessionEnd"),
    "codex": ("SessionStart", "Stop", "PreCompact"),
}
# In seconds; the program itself gives up sooner.
_TIMEOUT = 10
_OURS = re.compile(r"palimpsest[-_](?:client\.)?capture\S* hook ")
_INDENT = re.compile(r"\n([ \t]+)\"")


def settings_file(agent: str, folder: Path, root: Path | None) -> Path:
    """Returns the file that has an agent's hooks, for the person or for one project."""
    if agent == CLAUDE:
        return root / ".claude/settings.local.json" if root else folder / "settings.json"
    return (root / ".codex" if root else folder) / "hooks.json"


def command(agent: str) -> str:
    """Returns the command line of the hooks."""
    found = shutil.which("palimpsest-capture")
    start = [found] if found else [sys.executable, "-m", "palimpsest_client.capture"]
    return shlex.join([*start, "hook", agent])


def install(home: Path, files: Mapping[str, Path]) -> None:
    """Writes the hooks of each agent into its file; all of them or, with CaptureError, none."""
    known = _read_records(home)
    texts: list[tuple[str, Path, bytes | None, bytes]] = []
    for agent, named in files.items():
        path = named.resolve()
        before = _without(path, known.get(str(path)), agent)
        texts.append((agent, path, before, _with_hooks(path, before, agent)))
    for agent, path, before, after in texts:
        old = None if before is None else base64.b64encode(before).decode()
        known[str(path)] = {
            "agent": agent,
            "before": old,
            "after": hashlib.sha256(after).hexdigest(),
        }
    # First: whatever happens next, uninstall finds the files.
    write_private(home / "installed.json", json.dumps(known, indent=2))
    for _, path, _, after in texts:
        _replace(path, after)


def uninstall(home: Path) -> list[Path]:
    """Takes the hooks out of all files; one that nobody changed since has its old bytes again."""
    known = _read_records(home)
    done = []
    for name, record in known.items():
        path = Path(name)
        before = _without(path, record, record["agent"])
        if before is not None:
            _replace(path, before)
        else:
            path.unlink(missing_ok=True)
        done.append(path)
    (home / "installed.json").unlink(missing_ok=True)
    return done


def installed(home: Path) -> dict[Path, str]:
    """Returns the files with hooks, and whether the hooks are in them."""
    return {
        Path(name): "installed" if _has_hooks(Path(name)) else "no longer in it; install again"
        for name in _read_records(home)
    }


def _read_records(home: Path) -> Json:
    file = home / "installed.json"
    found: Json = json.loads(file.read_text()) if file.exists() else {}
    return found


def _has_hooks(path: Path) -> bool:
    return path.exists() and bool(_OURS.search(path.read_text(errors="replace")))


def _without(path: Path, record: Json | None, agent: str) -> bytes | None:
    """Returns the file without our hooks, None for a file that should not be there."""
    if not path.exists():
        return None
    now = path.read_bytes()
    if record and hashlib.sha256(now).hexdigest() == record["after"]:
        return None if record["before"] is None else base64.b64decode(record["before"])
    if not _has_hooks(path):
        return now
    settings = _parsed(path, now, agent)
    hooks = settings.get("hooks", {})
    for event, groups in list(hooks.items()):
        for group in groups:
            group["hooks"] = [
                each for each in group.get("hooks", []) if not _OURS.search(each.get("command", ""))
            ]
        hooks[event] = [group for group in groups if group["hooks"]]
        if not hooks[event]:
            del hooks[event]
    if not hooks:
        settings.pop("hooks", None)
    return _written(settings, now)


def _with_hooks(path: Path, before: bytes | None, agent: str) -> bytes:
    settings = _parsed(path, before, agent) if before and before.strip() else {}
    hooks = settings.setdefault("hooks", {})
    hook = {"type": "command", "command": command(agent), "timeout": _TIMEOUT}
    for event in EVENTS[agent]:
        groups = hooks.setdefault(event, []) if isinstance(hooks, dict) else None
        if not isinstance(groups, list):
            raise CaptureError(_by_hand(path, agent, "its hooks have another form"))
        groups.append({"hooks": [hook]})
    return _written(settings, before or b"\n")


def _parsed(path: Path, text: bytes, agent: str) -> Json:
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise CaptureError(_by_hand(path, agent, f"it is not plain JSON ({error})")) from None
    if not isinstance(settings, dict):
        raise CaptureError(_by_hand(path, agent, "it is no JSON object"))
    return settings


def _written(settings: Json, like: bytes) -> bytes:
    text = like.decode(errors="replace")
    indent = found.group(1) if (found := _INDENT.search(text)) else "  "
    end = "\n" if text.endswith("\n") else ""
    return (json.dumps(settings, indent=indent, ensure_ascii=False) + end).encode()


def _by_hand(path: Path, agent: str, why: str) -> str:
    return (
        f"{path} was left unchanged: {why}. Run the command `{command(agent)}` in its hooks"
        f" {', '.join(EVENTS[agent])} by hand."
    )


def _replace(path: Path, text: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    write_private(path, text)
    path.chmod(mode)

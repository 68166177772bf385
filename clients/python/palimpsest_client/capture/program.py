"""`palimpsest-capture`: hooks, installation, import and state, as one program."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import uuid4

from palimpsest_client.capture.hooks import entry_of, repository_of, run_hook
from palimpsest_client.capture.sessions import CLAUDE, CODEX, read_session, session_files
from palimpsest_client.capture.spool import (
    CaptureError,
    Config,
    RefusedError,
    Server,
    Spool,
    capture_home,
    load_config,
    write_private,
)

# In seconds: the agent goes on after the first, whatever the server does.
HOOK_LIMIT, HOOK_TIMEOUT, TIMEOUT = 5.0, 3.0, 60.0
_OFF = ("0", "off", "false", "no")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; a hook ends with 0 whatever happens."""
    given = _parser().parse_args(arguments)
    if given.command == "hook":
        return _hook(given.agent, given.payload)
    try:
        result: int = given.run(given)
    except (CaptureError, OSError) as error:
        sys.stderr.write(f"palimpsest-capture: {error}\n")
        return 1
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="palimpsest-capture", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    hook = commands.add_parser(
        "hook", help="handle one hook: its JSON comes on stdin or at the end"
    )
    hook.add_argument("agent", help=f"{CLAUDE}, {CODEX} or another agent's name")
    hook.add_argument("payload", nargs="?")
    install = commands.add_parser("install", help="write the hooks and store the key")
    install.add_argument("--claude", action="store_true", help="Claude Code")
    install.add_argument("--codex", action="store_true", help="Codex; without both, what is there")
    where = install.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for all projects (the default)")
    where.add_argument("--project", action="store_true", help="for the repository of this folder")
    install.add_argument("--url", help="the server's address")
    install.add_argument("--key", help="an API key; asked for where it is missing")
    install.add_argument("--person", help="who works here, in place of git's user.email")
    install.add_argument("--agent", help="one agent's name for all, as for a key of one agent")
    install.add_argument("--budget", type=int, help="tokens of the context (2000)")
    install.set_defaults(run=_install)
    commands.add_parser("uninstall", help="restore the files").set_defaults(run=_uninstall)
    commands.add_parser("status", help="what is installed and waits").set_defaults(run=_status)
    send = commands.add_parser("send", help="send what waits")
    send.add_argument("--refused", action="store_true", help="also what the server refused")
    send.set_defaults(run=_send)
    imports = commands.add_parser("import", help="send session files; may be repeated")
    imports.add_argument("paths", nargs="*", type=Path, help="files; all of this machine without")
    imports.set_defaults(run=_import)
    return parser


def _hook(agent: str, given: str | None) -> int:
    """Runs a hook in a thread that may be left behind: nothing makes the agent wait longer."""
    told: list[str] = []

    def work() -> None:
        try:
            out, err = _handled(agent, given, os.environ)
            sys.stdout.write(out)
            sys.stdout.flush()
        except Exception as error:
            err = (
                f"{error}"
                if isinstance(error, CaptureError)
                else f"{type(error).__name__}: {error}"
            )
        told.append(err)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(HOOK_LIMIT)
    if message := "took too long; the next hook goes on" if not told else told[0]:
        sys.stderr.write(f"palimpsest-capture: {' '.join(message.split())}\n")
        sys.stderr.flush()
    if thread.is_alive():
        os._exit(0)
    return 0


def _handled(agent: str, given: str | None, env: Mapping[str, str]) -> tuple[str, str]:
    text = given if given is not None else sys.stdin.read()
    if env.get("PALIMPSEST_CAPTURE", "").lower() in _OFF:
        return "", ""
    payload = json.loads(text)
    if not isinstance(payload, dict):
        raise CaptureError("the hook's JSON is no object")
    config = load_config(env)
    return run_hook(
        payload,
        agent=agent,
        config=config,
        server=Server(config, timeout=HOOK_TIMEOUT),
        codex=codex_home(env),
        until=time.monotonic() + HOOK_TIMEOUT,
    )


def codex_home(env: Mapping[str, str]) -> Path:
    """Returns the folder of Codex."""
    return Path(env.get("CODEX_HOME") or Path.home() / ".codex")


def claude_home(env: Mapping[str, str]) -> Path:
    """Returns the folder of Claude Code."""
    return Path(env.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def _install(given: argparse.Namespace) -> int:
    from palimpsest_client.capture import installing

    env, home = os.environ, capture_home(os.environ)
    folders = {CLAUDE: claude_home(env), CODEX: codex_home(env)}
    asked = {CLAUDE: given.claude, CODEX: given.codex}
    agents = [name for name in folders if asked[name]]
    agents = agents or [name for name, folder in folders.items() if folder.is_dir()]
    if not agents:
        raise CaptureError("neither Claude Code nor Codex is here: name one, --claude or --codex")
    key = given.key or env.get("PALIMPSEST_API_KEY") or ""
    if not key and not (home / "key").exists():
        if not sys.stdin.isatty():
            raise CaptureError("give an API key: --key pal_…, or PALIMPSEST_API_KEY")
        key = getpass.getpass("API key: ").strip()
    file = home / "config.json"
    config = json.loads(file.read_text()) if file.exists() else {}
    new = {name: getattr(given, name) for name in ("url", "person", "agent", "budget")}
    config |= {name: value for name, value in new.items() if value}
    Server(Config(home, config.get("url") or "http://127.0.0.1:8000", key), timeout=TIMEOUT)
    root = repository_of(".").root if given.project else None
    files = {name: installing.settings_file(name, folders[name], root) for name in agents}
    installing.install(home, files)
    write_private(file, json.dumps(config, indent=2))
    if key:
        write_private(home / "key", key)
    for name, path in files.items():
        sys.stdout.write(f"{name}: hooks are in {path}\n")
    if CODEX in files:
        sys.stdout.write("codex: open /hooks in Codex once and trust them; until then none runs.\n")
    return 0


def _uninstall(_given: argparse.Namespace) -> int:
    from palimpsest_client.capture import installing

    home = capture_home(os.environ)
    for path in installing.uninstall(home):
        sys.stdout.write(f"removed the hooks from {path}\n")
    for name in ("config.json", "key"):
        (home / name).unlink(missing_ok=True)
    if waiting := len(Spool(home).waiting()):
        sys.stdout.write(f"{waiting} entries were never sent; they stay in {home / 'spool'}\n")
    return 0


def _status(_given: argparse.Namespace) -> int:
    from palimpsest_client.capture import installing

    home = capture_home(os.environ)
    for path, state in installing.installed(home).items():
        sys.stdout.write(f"hooks: {path} ({state})\n")
    spool = Spool(home)
    refused = len(list(spool.refused.glob("*.json")))
    sys.stdout.write(f"spool: {len(spool.waiting())} waiting, {refused} refused\n")
    config = load_config(os.environ)
    try:
        Server(config, timeout=HOOK_TIMEOUT).ask("GET", "/v1/projects?limit=1")
    except RefusedError as error:
        if error.status == 401:
            raise
    sys.stdout.write(f"server: {config.url} answers\n")
    return 0


def _send(given: argparse.Namespace) -> int:
    config = load_config(os.environ)
    spool = Spool(config.home)
    if given.refused:
        spool.retry(config)
    if told := spool.send(Server(config, timeout=TIMEOUT), until=float("inf")):
        raise CaptureError(told)
    return 0


def _import(given: argparse.Namespace) -> int:
    config = load_config(os.environ)
    server = Server(config, timeout=TIMEOUT)
    paths = given.paths or session_files(
        claude=claude_home(os.environ), codex=codex_home(os.environ)
    )
    code = 0
    for number, path in enumerate(paths, 1):
        try:
            told = _imported(path, config, server)
        except RefusedError as error:
            if not error.is_final:
                raise
            told, code = f"refused: {error}", 1
        sys.stdout.write(f"{number}/{len(paths)} {path.name}: {told}\n")
        sys.stdout.flush()
    return code


def _imported(path: Path, config: Config, server: Server) -> str:
    session = read_session(path)
    session.id = session.id or path.stem
    place = repository_of(session.folder)
    if place.is_left_out or session.is_subagent or not session.messages:
        return "left out"
    # Errors count for a day, and these may be old.
    session.errors.clear()
    entry = entry_of(session, place, config=config, is_end=True)
    if entry and (refused := entry.send(server, f"import-{uuid4()}")):
        raise refused[1]
    return f"{len(session.messages)} messages"

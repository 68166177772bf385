"""`palimpsest-capture`: recorded hooks of coding agents, their session files, and the settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import palimpsest_client
import pytest
from palimpsest_client import Palimpsest
from palimpsest_client.capture.hooks import run_hook
from palimpsest_client.capture.installing import EVENTS
from palimpsest_client.capture.program import main
from palimpsest_client.capture.sessions import read_session
from palimpsest_client.capture.spool import CaptureError, Config, Json, RefusedError, Spool

from tests.clients.conftest import Place

RECORDED = Path(__file__).parent / "capture"
PACKAGE = Path(palimpsest_client.__file__).parents[1]
PROMPT = "Keep the tests in tests/ui: I prefer one folder for each page."
ANSWER = "The test is in tests/ui/login.py; it fails because the token is too old."


@dataclass
class Machine:
    """A person's machine: a repository, session files and the recorded hooks in it."""

    home: Path
    repository: Path

    def recorded(self, name: str) -> Path:
        """The session file as the agent would have written it here."""
        path = self.home / name
        path.write_text((RECORDED / name).read_text().replace("CWD", str(self.repository)))
        return path

    def payload(self, agent: str, hook: str, file: Path | None = None) -> str:
        """The JSON that the agent gives this hook."""
        text = json.dumps(json.loads((RECORDED / "payloads.json").read_text())[agent][hook])
        return text.replace("CWD", str(self.repository)).replace("TRANSCRIPT", str(file))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine without any agent's settings."""
    repository = tmp_path / "lantern"
    repository.mkdir()
    git = ("git", "-C", str(repository))
    subprocess.run([*git, "init", "-q", "-b", "fix/session"], check=True)
    subprocess.run([*git, "config", "user.email", "sarah@example.org"], check=True)
    subprocess.run([*git, "config", "user.name", "Sarah"], check=True)
    (repository / "open.py").write_text("1\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PALIMPSEST_CAPTURE_HOME", str(tmp_path / "capture"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PALIMPSEST_API_KEY", "PALIMPSEST_URL"):
        monkeypatch.delenv(name, raising=False)
    return Machine(tmp_path, repository)


@dataclass
class FakeServer:
    """Remembers what it is sent, and fails as it is told."""

    fails: CaptureError | None = None
    refuses: dict[str, RefusedError] = field(default_factory=dict)
    asked: list[tuple[str, Json]] = field(default_factory=list)

    def ask(self, method: str, path: str, body: Json | None = None, *, key: str = "") -> Json:
        if self.fails:
            raise self.fails
        if path in self.refuses:
            raise self.refuses[path]
        self.asked.append((path, body or {}))
        return {"id": "c1", "context": "## Critical\n[DECISION]: One folder for each page."}

    def sent(self, path: str) -> list[Json]:
        """The bodies sent to a path."""
        return [body for asked, body in self.asked if asked == path]


def hook(machine: Machine, agent: str, text: str, server: FakeServer) -> tuple[str, str]:
    """Runs a hook in this process."""
    return run_hook(
        json.loads(text),
        agent=agent,
        config=Config(machine.home / "capture", "http://127.0.0.1:1", "pal_x"),
        server=server,
        codex=machine.home / ".codex",
        until=time.monotonic() + 60,
    )


def program(machine: Machine, *arguments: str, given: str = "", **env: str) -> Any:
    """Runs the real program."""
    return subprocess.run(
        [sys.executable, "-m", "palimpsest_client.capture", *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        cwd=machine.repository,
        env={**os.environ, "PYTHONPATH": str(PACKAGE), **env},
    )


def test_a_session_of_claude_code_is_stored_once_and_its_context_comes_back(
    machine: Machine, place: Place
) -> None:
    file = machine.recorded("claude-session.jsonl")
    env = {"PALIMPSEST_URL": place.url, "PALIMPSEST_API_KEY": place.key()}
    start = ("hook", "claude-code")
    first = program(machine, *start, given=machine.payload("claude-code", "SessionStart"), **env)
    assert (first.returncode, first.stdout, first.stderr) == (0, "", "")

    for name in ("Stop", "Stop", "SessionEnd"):
        done = program(machine, *start, given=machine.payload("claude-code", name, file), **env)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    again = program(machine, "import", str(file), **env)

    assert again.stdout == "1/1 claude-session.jsonl: 2 messages\n", again.stderr
    with Palimpsest(place.url, env["PALIMPSEST_API_KEY"]) as client:
        [talk] = client.conversations.list(agent="claude-code", user="sarah@example.org")
        assert (talk.project, talk.thread_id) == ("lantern", "5f0c2a7e-claude")
        said = [(each.role, each.content) for each in client.conversations.messages(talk.id)]
        [episode] = client.memories.list(project="lantern", form=["episode"])
    assert said == [("user", PROMPT), ("assistant", ANSWER)]
    assert "tests/ui/login.py" in episode.content
    (machine.repository / "tests/ui").mkdir(parents=True)
    (machine.repository / "tests/ui/login.py").write_text("assert True\n")
    later = program(machine, *start, given=machine.payload("claude-code", "SessionStart"), **env)
    told = json.loads(later.stdout)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    assert "login.py" in told["additionalContext"]


def test_an_import_goes_on_after_a_session_that_is_refused(machine: Machine, place: Place) -> None:
    files = [machine.recorded(name) for name in ("claude-session.jsonl", "codex-rollout.jsonl")]
    env = {"PALIMPSEST_URL": place.url, "PALIMPSEST_API_KEY": place.key(place.cast.kyra)}

    done = program(machine, "import", *map(str, files), **env)

    first, second = done.stdout.splitlines()
    assert first.startswith("1/2 claude-session.jsonl: refused: the server answered 403")
    assert second.startswith("2/2 codex-rollout.jsonl: refused: ")
    assert done.returncode == 1


def test_a_hook_ends_well_and_briefly_where_nothing_answers(machine: Machine) -> None:
    file = machine.recorded("claude-session.jsonl")
    env = {"PALIMPSEST_URL": "http://127.0.0.1:1", "PALIMPSEST_API_KEY": "pal_x"}

    done = program(
        machine, "hook", "claude-code", given=machine.payload("claude-code", "Stop", file), **env
    )
    broken = program(machine, "hook", "claude-code", given="no JSON", **env)

    assert (done.returncode, done.stdout) == (0, "")
    assert "1 waiting" in done.stderr
    assert (broken.returncode, broken.stdout) == (0, "")
    assert broken.stderr.count("\n") == 1
    assert len(Spool(machine.home / "capture").waiting()) == 1


def test_what_could_not_be_sent_is_sent_in_order_by_the_next_hook(machine: Machine) -> None:
    file, server = machine.recorded("claude-session.jsonl"), FakeServer(CaptureError("away"))
    hook(machine, "claude-code", machine.payload("claude-code", "Stop", file), server)
    with file.open("a") as more:
        record = {"type": "user", "uuid": "u-9", "message": {"role": "user", "content": "Thanks."}}
        more.write(json.dumps(record) + "\n" + '{"type":"user","mess')
    hook(machine, "claude-code", machine.payload("claude-code", "Stop", file), server)

    server.fails = None
    hook(machine, "claude-code", machine.payload("claude-code", "SessionEnd", file), server)

    sent = server.sent("/v1/conversations/c1/messages")
    assert [[each["external_id"] for each in body["messages"]] for body in sent] == [
        ["u-1", "a-3"],
        ["u-9"],
    ]
    [signals] = [body["signals"] for body in server.sent("/v1/context/assemble")]
    assert "SessionExpired" in signals["recent_errors"][0]
    assert server.sent("/v1/conversations/c1/extract")
    assert not Spool(machine.home / "capture").waiting()


def test_what_the_server_refuses_for_good_holds_up_nothing(machine: Machine) -> None:
    file = machine.recorded("claude-session.jsonl")
    server = FakeServer(RefusedError(422, "messages: wrong"))

    _, told = hook(machine, "claude-code", machine.payload("claude-code", "Stop", file), server)

    spool = Spool(machine.home / "capture")
    assert "messages: wrong" in told
    assert (len(spool.waiting()), len(list(spool.refused.iterdir()))) == (0, 1)


@pytest.mark.parametrize("content", ["", '{"conversation": {}, "calls": null}', "[]"])
def test_files_that_a_crash_left_broken_end_nothing(machine: Machine, content: str) -> None:
    file, server = machine.recorded("claude-session.jsonl"), FakeServer(CaptureError("away"))
    stop = machine.payload("claude-code", "Stop", file)
    hook(machine, "claude-code", stop, server)
    spool = Spool(machine.home / "capture")
    for broken in (*spool.waiting(), *(machine.home / "capture/sessions").iterdir()):
        broken.write_text(content)
    server.fails = None

    _, told = hook(machine, "claude-code", stop, server)

    assert "cannot be read" in told
    assert server.sent("/v1/conversations/c1/messages")
    assert not spool.waiting()
    assert [each.suffix for each in spool.refused.iterdir()] == [".broken"]


def test_the_context_is_added_although_nothing_can_be_sent(machine: Machine) -> None:
    (machine.home / "capture").mkdir()
    (machine.home / "capture/spool").write_text("no folder")

    start = machine.payload("claude-code", "SessionStart")
    out, told = hook(machine, "claude-code", start, FakeServer())

    assert "One folder" in out
    assert "nothing was sent" in told


def test_an_agent_that_the_key_may_not_name_is_sent_once_it_is_configured(machine: Machine) -> None:
    file = machine.recorded("claude-session.jsonl")
    server = FakeServer(RefusedError(403, "The key is bound to kyra."))
    hook(machine, "claude-code", machine.payload("claude-code", "Stop", file), server)
    server.fails = None
    config = Config(machine.home / "capture", "http://127.0.0.1:1", "pal_x", agent="kyra")
    spool = Spool(config.home)

    spool.retry(config)
    assert spool.send(server, until=time.monotonic() + 60) == ""

    assert {body["agent"] for _, body in server.asked if "agent" in body} == {"kyra"}
    assert server.sent("/v1/conversations/c1/messages")
    assert not spool.waiting()
    assert not list(spool.refused.iterdir())


def test_of_an_entry_only_the_refused_request_is_put_aside(machine: Machine) -> None:
    file = machine.recorded("claude-session.jsonl")
    server = FakeServer()
    server.refuses["/v1/memories"] = RefusedError(422, "payload: wrong")
    server.refuses["/v1/conversations/c1/extract"] = RefusedError(409, "No messages to extract.")

    _, told = hook(
        machine, "claude-code", machine.payload("claude-code", "SessionEnd", file), server
    )

    assert "payload: wrong" in told
    assert server.sent("/v1/conversations/c1/messages")
    assert server.sent("/v1/context/assemble")
    spool = Spool(machine.home / "capture")
    server.refuses.clear()
    sent = len(server.asked)
    spool.retry(Config(machine.home / "capture", "http://127.0.0.1:1", "pal_x"))
    spool.send(server, until=time.monotonic() + 60)
    again = {path for path, _ in server.asked[sent:]}
    assert again == {"/v1/conversations", "/v1/memories"}


def prompts_in(folder: Path, *contents: object) -> list[str]:
    """What is read of a session of Claude Code in which the user's records have these contents."""
    file = folder / "session.jsonl"
    records = [{"type": "user", "message": {"content": content}} for content in contents]
    file.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return [each.content for each in read_session(file).messages]


@pytest.mark.parametrize(
    "text",
    [
        "<bash-input>cat .env</bash-input>",
        "<bash-stdout>KEY=1</bash-stdout><bash-stderr></bash-stderr>",
        "<ide_selection>The user selected the lines 1 to 3 of .env: KEY=1</ide_selection>",
        "<ide_opened_file>The user opened .env</ide_opened_file>",
        "<system-reminder>It is Monday.</system-reminder>",
        "[Request interrupted by user]",
        "<command-name>/cost</command-name><command-args></command-args>",
    ],
)
def test_of_a_prompt_only_what_was_typed_is_sent(tmp_path: Path, text: str) -> None:
    blocks = [{"type": "text", "text": text}, {"type": "text", "text": "Use Heron."}]

    assert prompts_in(tmp_path, text, blocks) == ["Use Heron."]


def test_the_words_after_a_slash_command_are_sent(tmp_path: Path) -> None:
    text = "<command-name>/review</command-name>\n<command-args>focus on Heron</command-args>"

    assert prompts_in(tmp_path, text) == ["/review focus on Heron"]


def test_words_before_a_tool_are_not_sent_although_they_have_no_stop_reason(
    machine: Machine,
) -> None:
    file, server = machine.home / "session.jsonl", FakeServer()

    def write(kind: str, **block: str) -> None:
        message = {"content": [block], "stop_reason": None}
        with file.open("a") as more:
            more.write(json.dumps({"type": kind, "message": message}) + "\n")

    write("user", type="text", text="Name the port.")
    write("assistant", type="text", text="Let me look.")
    for name in ("PreCompact", "PreCompact"):
        hook(machine, "claude-code", machine.payload("claude-code", name, file), server)
    write("assistant", type="tool_use", name="Read")
    write("user", type="tool_result", content="PORT = 1")
    write("assistant", type="text", text="It is 1.")
    write("assistant", type="text", text="Shall I change it?")
    hook(machine, "claude-code", machine.payload("claude-code", "Stop", file), server)
    write("user", type="text", text="No.")
    hook(machine, "claude-code", machine.payload("claude-code", "Stop", file), server)

    sent = server.sent("/v1/conversations/c1/messages")
    assert [[each["content"] for each in body["messages"]] for body in sent] == [
        ["Name the port."],
        ["It is 1.", "Shall I change it?"],
        ["No."],
    ]


def test_prompts_answers_changes_and_errors_of_codex_are_read(machine: Machine) -> None:
    file = machine.recorded("codex-rollout.jsonl")

    session = read_session(file)

    assert [(each.role, each.content) for each in session.messages] == [
        ("user", "Name the port once, in src/server.py."),
        ("assistant", "The port is named in src/server.py alone."),
    ]
    assert [each.files for each in session.changes] == [[f"{machine.repository}/src/server.py"]]
    assert session.errors == ["AddressInUse: port 8000"]
    assert (session.id, session.folder) == ("019a2d7a-codex", str(machine.repository))


def test_hooks_and_notices_of_codex_send_the_same_messages(machine: Machine) -> None:
    name = "codex-rollout.jsonl"
    folder = machine.home / ".codex/sessions/2026/11/04"
    folder.mkdir(parents=True)
    file = machine.recorded(name).rename(
        folder / "rollout-2026-11-04T10-00-00-019a2d7a-codex.jsonl"
    )
    by_hook, by_notice = FakeServer(), FakeServer()

    hook(machine, "codex", machine.payload("codex", "Stop", file), by_hook)
    for state in (machine.home / "capture/sessions").iterdir():
        state.unlink()
    hook(machine, "codex", machine.payload("codex", "notify"), by_notice)

    assert by_hook.asked
    assert by_hook.asked == by_notice.asked


def test_a_session_file_that_is_still_to_come_is_waited_for(machine: Machine) -> None:
    server = FakeServer()
    to_come = machine.home / "claude-session.jsonl"
    hook(machine, "claude-code", machine.payload("claude-code", "Stop", to_come), server)
    assert not server.asked
    file = machine.recorded("claude-session.jsonl")

    hook(machine, "claude-code", machine.payload("claude-code", "Stop", file), server)

    [sent] = server.sent("/v1/conversations/c1/messages")
    assert [each["content"] for each in sent["messages"]] == [PROMPT, ANSWER]


def test_the_context_is_asked_for_with_branch_and_changed_files(machine: Machine) -> None:
    server = FakeServer()
    (machine.repository / "secret.env").write_text("x")
    (machine.repository / ".palimpsestignore").write_text("*.env\n")

    out, _ = hook(machine, "codex", machine.payload("codex", "SessionStart"), server)

    [work] = server.sent("/v1/context/assemble")
    assert (work["agent"], work["user"], work["project"]) == (
        "codex",
        "sarah@example.org",
        "lantern",
    )
    signals = work["signals"]
    assert signals["branch"] == "fix/session"
    files = {signals["current_file"], *signals["opened_files"]}
    assert files == {"open.py", ".palimpsestignore"}
    assert "One folder" in json.loads(out)["hookSpecificOutput"]["additionalContext"]


def test_any_other_agent_sends_the_same_by_the_plain_form(machine: Machine) -> None:
    server = FakeServer()

    out, _ = hook(machine, "aider", machine.payload("generic", "start"), server)
    for name in ("messages", "end"):
        hook(machine, "aider", machine.payload("generic", name), server)

    assert out.startswith("## Critical")
    [sent] = server.sent("/v1/conversations/c1/messages")
    assert [each["content"] for each in sent["messages"]] == [
        "Call the release Heron.",
        "Heron it is.",
    ]
    [episode] = server.sent("/v1/memories")
    assert episode["payload"]["artifacts"] == [{"kind": "file", "ref": "CHANGES.md"}]
    assert server.sent("/v1/conversations/c1/extract")


@pytest.mark.parametrize("name", ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit"])
def test_hooks_in_the_middle_of_a_turn_ask_for_nothing(machine: Machine, name: str) -> None:
    file, server = machine.recorded("claude-session.jsonl"), FakeServer()

    hook(machine, "claude-code", machine.payload("claude-code", name, file), server)

    assert not server.asked
    assert len(Spool(machine.home / "capture").waiting()) == 1


@pytest.mark.parametrize("how", ["project", "environment"])
def test_a_project_or_person_can_opt_out(machine: Machine, how: str) -> None:
    file, env = machine.recorded("claude-session.jsonl"), {"PALIMPSEST_API_KEY": "pal_x"}
    if how == "project":
        (machine.repository / ".palimpsestignore").write_text("# nothing of this\n*\n")
    else:
        env["PALIMPSEST_CAPTURE"] = "off"

    done = program(
        machine, "hook", "claude-code", given=machine.payload("claude-code", "Stop", file), **env
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not Spool(machine.home / "capture").waiting()


SETTINGS = (
    None,
    "",
    '{"model": "opus",   "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "é"}]}]}}',
    '{\n\t"permissions": {"allow": ["Bash(ls)"]}\n}\n',
)


@pytest.mark.parametrize("before", SETTINGS)
def test_uninstall_gives_the_files_their_bytes_back(machine: Machine, before: str | None) -> None:
    files = [machine.home / ".claude/settings.json", machine.home / ".codex/hooks.json"]
    for file in files:
        file.parent.mkdir()
        if before is not None:
            file.write_text(before)

    for _ in range(2):
        assert main(["install", "--url", "http://127.0.0.1:1", "--key", "pal_secret"]) == 0

    for file, events in zip(files, EVENTS.values(), strict=True):
        settings = json.loads(file.read_text())
        ours = [
            event
            for event, groups in settings["hooks"].items()
            for group in groups
            for each in group["hooks"]
            if "capture hook" in each["command"]
        ]
        assert sorted(ours) == sorted(events)
        assert "pal_secret" not in file.read_text()
    key = machine.home / "capture/key"
    assert (key.read_text(), key.stat().st_mode & 0o777) == ("pal_secret", 0o600)
    assert main(["uninstall"]) == 0
    assert [f.read_text() if f.exists() else None for f in files] == [before, before]
    assert not key.exists()


def test_uninstall_keeps_what_was_changed_after_install(machine: Machine) -> None:
    file = machine.home / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "model": "opus"\n}\n')
    main(["install", "--key", "pal_x"])
    settings = json.loads(file.read_text())
    settings["theme"] = "dark"
    file.write_text(json.dumps(settings))

    main(["uninstall"])

    assert json.loads(file.read_text()) == {"model": "opus", "theme": "dark"}


def test_a_file_that_is_no_plain_json_is_left_to_the_person(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    file = machine.home / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text('{"model": "opus"} // mine\n')

    assert main(["install", "--key", "pal_x"]) == 1

    assert "by hand" in capsys.readouterr().err
    assert file.read_text() == '{"model": "opus"} // mine\n'


def test_status_says_what_is_installed_and_waits(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine.home / ".claude").mkdir()
    main(["install", "--key", "pal_x", "--url", "http://127.0.0.1:1"])
    capsys.readouterr()

    assert main(["status"]) == 1

    told = capsys.readouterr()
    assert "settings.json (installed)" in told.out
    assert "0 waiting" in told.out
    assert "does not answer" in told.err

"""Configuration, the requests to the server, and the folder of what could not be sent yet."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

Json = dict[str, Any]  # Any: a JSON document
# Sent again unchanged these would be refused again, so they are put aside.
_FINAL = {400, 403, 404, 409, 413, 422}
_PROBLEM_CHARS = 300


class CaptureError(Exception):
    """A failure that its message explains."""


class RefusedError(CaptureError):
    """The server answered with a status of 300 or above; `is_final` where it would do so again."""

    def __init__(self, status: int, message: str, *, is_busy: bool = False) -> None:
        self.status = status
        self.is_final = status in _FINAL and not is_busy
        super().__init__(f"the server answered {status}: {message}")


def capture_home(env: Mapping[str, str]) -> Path:
    """Returns the folder of the configuration, the key and the spool."""
    if named := env.get("PALIMPSEST_CAPTURE_HOME"):
        return Path(named)
    return Path(env.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "palimpsest-capture"


def write_private(path: Path, text: str | bytes) -> None:
    """Replaces a file as a whole; only its owner may read it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


@dataclass(frozen=True)
class Config:
    """The server and the names under which sessions are sent; "" is taken from elsewhere."""

    home: Path
    url: str
    key: str
    person: str = ""
    agent: str = ""
    budget: int = 2_000


def load_config(env: Mapping[str, str]) -> Config:
    """Returns what `install` stored, with the environment before it; CaptureError without a key."""
    home = capture_home(env)
    stored: Json = {}
    if (file := home / "config.json").exists():
        stored = json.loads(file.read_text())
    key = env.get("PALIMPSEST_API_KEY", "")
    if not key and (file := home / "key").exists():
        key = file.read_text().strip()
    if not key:
        raise CaptureError("there is no API key: run `palimpsest-capture install`")
    url = env.get("PALIMPSEST_URL") or stored.get("url") or "http://127.0.0.1:8000"
    names = {name: stored[name] for name in ("person", "agent", "budget") if stored.get(name)}
    return Config(home, url, key, **names)


class Api(Protocol):
    """A sender of requests."""

    def ask(self, method: str, path: str, body: Json | None = None, *, key: str = "") -> Json:
        """Returns the answer; RefusedError or CaptureError without one."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Keeps the key from another host."""

    def redirect_request(self, *_given: Any, **_named: Any) -> None:  # Any: urllib's own
        return None


class Server:
    """Requests over the standard library: a hook starts in a tenth of the client's time."""

    def __init__(self, config: Config, *, timeout: float) -> None:
        url = config.url.rstrip("/").removesuffix("/v1")
        if urlsplit(url).scheme not in ("http", "https"):
            raise CaptureError(f"{url!r} is no address of a server: it begins with http or https")
        self._url, self._key, self._timeout = url, config.key, timeout
        self._opener = urllib.request.build_opener(_NoRedirects)

    def ask(self, method: str, path: str, body: Json | None = None, *, key: str = "") -> Json:
        """Returns the answer; RefusedError for a refusal, CaptureError where nothing answers."""
        headers = {"Authorization": f"Bearer {self._key}", "User-Agent": "palimpsest-capture"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key:
            headers["Idempotency-Key"] = key
        content = None if body is None else json.dumps(body).encode()
        try:
            request = urllib.request.Request(  # noqa: S310  # the scheme is checked above
                f"{self._url}{path}", content, headers, method=method
            )
            with self._opener.open(request, timeout=self._timeout) as response:
                answer = json.loads(response.read() or b"{}")
        except urllib.error.HTTPError as error:
            # A 409 with it: the same request is still carried out.
            is_busy = "Retry-After" in error.headers
            raise RefusedError(error.code, _detail(error), is_busy=is_busy) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise CaptureError(f"{self._url} does not answer ({reason})") from None
        return answer if isinstance(answer, dict) else {}


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["detail"])[:_PROBLEM_CHARS]
    except (OSError, ValueError, LookupError, TypeError):
        return str(error.reason)


@dataclass(frozen=True)
class Entry:
    """Requests about one session, sent in order; `{id}` in a path is its conversation's id.

    None stands for a request that was sent before: the place of each is part of its key.
    """

    conversation: Json
    calls: Sequence[tuple[str, Json] | None]

    def send(self, server: Api, key: str) -> tuple[Entry, RefusedError] | None:
        """Sends all of them; sent again under the same key, nothing is stored twice.

        What the server has under the same id in other words stays as it is there. Returns what it
        refused for good, with the last reason; raises CaptureError at any other failure.
        """
        try:
            opened = server.ask("POST", "/v1/conversations", self.conversation)
        except RefusedError as error:
            if error.is_final:
                return self, error
            raise
        refused: list[tuple[str, Json] | None] = []
        reason = None
        for number, call in enumerate(self.calls):
            refused.append(None)
            if call is None:
                continue
            try:
                server.ask("POST", call[0].format(id=opened["id"]), call[1], key=f"{key}-{number}")
            except RefusedError as error:
                if not error.is_final:
                    raise
                if error.status != 409:
                    refused[-1], reason = call, error
        return (Entry(self.conversation, refused), reason) if reason else None

    @classmethod
    def read(cls, path: Path) -> Entry:
        """Returns the entry that `write` stored; ValueError for a file that holds none."""
        try:
            stored = json.loads(path.read_text())
            calls = [each and (str(each[0]), dict(each[1])) for each in stored["calls"]]
            return cls(dict(stored["conversation"]), calls)
        except (LookupError, TypeError) as error:
            raise ValueError(f"{path.name} holds no entry") from error

    def write(self, path: Path) -> None:
        """Stores it in a file for its owner alone."""
        write_private(path, json.dumps({"conversation": self.conversation, "calls": self.calls}))

    def named(self, *, agent: str, person: str) -> Entry:
        """Returns it in the name of another agent and person; "" keeps those that it has."""
        names = {name: each for name, each in (("agent", agent), ("user", person)) if each}

        def renamed(body: Json) -> Json:
            return {name: names.get(name, value) for name, value in body.items()}

        calls = [each and (each[0], renamed(each[1])) for each in self.calls]
        return Entry(renamed(self.conversation), calls)


class Spool:
    """A folder of entries, one file each, named by the time at which they were added."""

    def __init__(self, home: Path) -> None:
        self.folder, self.refused = home / "spool", home / "refused"

    def add(self, entry: Entry) -> None:
        """Stores an entry behind those that wait."""
        entry.write(self.folder / f"{time.time_ns():020}-{os.getpid()}.json")

    def waiting(self) -> list[Path]:
        """Returns the entries, the oldest first."""
        return sorted(self.folder.glob("[0-9]*.json"))

    def send(self, server: Api, *, until: float) -> str:
        """Sends what waits until that moment of the monotonic clock; returns what to tell, or "".

        Another process that sends goes on alone. What the server refuses for good is put aside in
        `refused`, as is a file that cannot be read; at any other failure the rest waits, in order.
        """
        told = ""
        with _alone(self.folder) as is_alone:
            while is_alone and (waiting := self.waiting()) and time.monotonic() < until:
                path = waiting[0]
                entry = self._read(path)
                if entry is None:
                    told = f"{path.name} cannot be read; put aside in {self.refused}"
                    continue
                try:
                    refused = entry.send(server, f"capture-{path.stem}")
                except CaptureError as error:
                    return f"{error}; {len(waiting)} waiting"
                if refused:
                    told = f"{refused[1]}; put aside in {self.refused}"
                    refused[0].write(self.refused / path.name)
                path.unlink()
        return told

    def retry(self, config: Config) -> None:
        """Lets what was refused wait again, in the names that are configured now."""
        for path in sorted(self.refused.glob("*.json")):
            if entry := self._read(path):
                self.add(entry.named(agent=config.agent, person=config.person))
                path.unlink()

    def _read(self, path: Path) -> Entry | None:
        """Returns the entry of a file; one that cannot be read is put aside."""
        try:
            return Entry.read(path)
        except ValueError:
            self.refused.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.replace(self.refused / f"{path.stem}.broken")
            return None


@contextmanager
def _alone(folder: Path) -> Any:  # Any: a generator, which the decorator replaces
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        import fcntl
    except ImportError:  # On Windows two senders may meet; ids keep them from storing twice.
        yield True
        return
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True

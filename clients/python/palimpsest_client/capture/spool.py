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
_FINAL = {400, 404, 409, 413, 422}
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
    """Requests about one session, sent in order; `{id}` in a path is its conversation's id."""

    conversation: Json
    calls: Sequence[tuple[str, Json]]

    def send(self, server: Api, key: str, *, is_known: bool = False) -> None:
        """Sends all of them; sent again under the same key, nothing is stored twice.

        With `is_known`, what the server has under the same id in other words stays as it is there.
        """
        opened = server.ask("POST", "/v1/conversations", self.conversation)
        for number, (path, body) in enumerate(self.calls):
            try:
                server.ask("POST", path.format(id=opened["id"]), body, key=f"{key}-{number}")
            except RefusedError as error:
                if not (is_known and error.status == 409 and error.is_final):
                    raise


class Spool:
    """A folder of entries, one file each, named by the time at which they were added."""

    def __init__(self, home: Path) -> None:
        self.folder, self.refused = home / "spool", home / "refused"

    def add(self, entry: Entry) -> None:
        """Stores an entry behind those that wait."""
        text = json.dumps({"conversation": entry.conversation, "calls": list(entry.calls)})
        write_private(self.folder / f"{time.time_ns():020}-{os.getpid()}.json", text)

    def waiting(self) -> list[Path]:
        """Returns the entries, the oldest first."""
        return sorted(self.folder.glob("[0-9]*.json"))

    def send(self, server: Api, *, until: float) -> str:
        """Sends what waits until that moment of the monotonic clock; returns what to tell, or "".

        Another process that sends goes on alone. What the server refuses for good is put aside in
        `refused`; at any other failure the rest waits, in order.
        """
        told = ""
        with _alone(self.folder) as is_alone:
            while is_alone and (waiting := self.waiting()) and time.monotonic() < until:
                path = waiting[0]
                try:
                    stored = json.loads(path.read_text())
                    entry = Entry(stored["conversation"], stored["calls"])
                    entry.send(server, f"capture-{path.stem}")
                    path.unlink()
                except CaptureError as error:
                    if not (isinstance(error, RefusedError) and error.is_final):
                        return f"{error}; {len(waiting)} waiting"
                    told = f"{error}; put aside in {self.refused}"
                    self.refused.mkdir(exist_ok=True, mode=0o700)
                    path.replace(self.refused / path.name)
        return told

    def retry(self) -> None:
        """Lets what was refused wait again."""
        for path in self.refused.glob("*.json"):
            path.replace(self.folder / path.name)


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

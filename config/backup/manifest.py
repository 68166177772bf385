"""What stands beside a dump, so that a restore can be checked against it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

DUMP = "palimpsest.dump"
MANIFEST = "manifest.json"
SEAL_KEYS = "seal_keys"
_FORMAT = 1


class BackupError(RuntimeError):
    """A backup cannot be made, used or trusted; the message is for the person at the shell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamState:
    """Where a team's log stood: its entries, the last number, and the latest seal if any.

    `seal` is `NUMBER:DIGEST`, as `verify_log` prints a head.
    """

    entries: int
    last_seq: int
    seal: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What one snapshot of the database holds.

    `migrations` are `app.name`, `rows` counts by table, `teams` are by id, and `seal_keys` are the
    ids of the keys that the seals were made with, which tell nothing of the keys.
    """

    postgres: int
    migrations: list[str]
    rows: dict[str, int]
    teams: dict[str, TeamState]
    seal_keys: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A backup: who made it and when, what it holds, and the digest of its dump."""

    version: str
    made_at: str
    dump_bytes: int
    dump_sha256: str
    contents: Contents


def write_manifest(manifest: Manifest, *, folder: Path) -> None:
    """Write the manifest into the backup's folder."""
    text = json.dumps({"format": _FORMAT} | asdict(manifest), indent=1)
    (folder / MANIFEST).write_text(text + "\n")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a backup whose dump is the one that was made with it.

    Raises BackupError for a folder that is no backup, and for a dump that was changed or cut.
    """
    try:
        given = json.loads((folder / MANIFEST).read_text())
    except OSError as error:
        raise BackupError(f"{folder} is no backup: {MANIFEST}: {error.strerror}.") from error
    except ValueError as error:
        raise BackupError(f"{folder / MANIFEST} is no JSON: it was changed or cut.") from error
    try:
        if given.pop("format") != _FORMAT:
            raise BackupError("This backup was made by another version of the command.")
        contents = given.pop("contents")
        teams = {team: TeamState(**state) for team, state in contents.pop("teams").items()}
        manifest = Manifest(**given, contents=Contents(**contents, teams=teams))
    except (AttributeError, KeyError, TypeError) as error:
        raise BackupError(f"{folder / MANIFEST} is no manifest of a backup.") from error
    try:
        found = sha256_of(folder / DUMP)
    except OSError as error:
        raise BackupError(f"{folder / DUMP}: {error.strerror}.") from error
    if found != manifest.dump_sha256:
        raise BackupError(f"{folder / DUMP} was changed or cut: its digest is not the manifest's.")
    return manifest


def sha256_of(file: Path) -> str:
    """The SHA-256 of a file of any size, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()

"""Brings a ChatGPT export into a team's memory; made for cron, as it may run again and again.

PALIMPSEST_URL and PALIMPSEST_API_KEY say where and with which key of the team:

    main.py ~/Downloads/chatgpt-export.zip --agent archive --user sarah
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
import zipfile
from fnmatch import fnmatch
from pathlib import Path

from palimpsest_client import Palimpsest, PalimpsestError
from palimpsest_client.models import ImportRun

POLL_SECONDS = 2.0
# Larger exports have conversations-000.json, conversations-001.json and so on.
CONVERSATIONS = "conversations*.json"


def main(arguments: list[str] | None = None) -> int:
    """Upload the file, wait for the import, and say what was new; 1 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="the zip of the export, or its conversations.json")
    parser.add_argument("--agent", required=True, help="the agent that the conversations belong to")
    parser.add_argument("--user", required=True, help="the person who talked")
    given = parser.parse_args(arguments)
    url = os.environ.get("PALIMPSEST_URL", "http://127.0.0.1:8000")
    try:
        with Palimpsest(url, os.environ["PALIMPSEST_API_KEY"], timeout=300) as client:
            run = imported(client, given.file, agent=given.agent, user=given.user)
    except KeyError:
        parser.error("set PALIMPSEST_API_KEY to a key of the team")
    except (OSError, zipfile.BadZipFile, PalimpsestError) as error:
        print(f"{given.file}: {error}", file=sys.stderr)
        return 1
    print(f"{run.total} messages, {run.new} new, {run.failed} failed: {run.state}")
    for problem in run.errors:
        print(f"{problem.place}: {problem.problem}", file=sys.stderr)
    return 0 if run.state == "done" and not run.failed else 1


def imported(client: Palimpsest, file: Path, *, agent: str, user: str) -> ImportRun:
    """The import of a file when it has ended."""
    run = client.imports.start(
        conversations(file), format="chatgpt", agent=agent, user=user, name=file.name
    )
    while run.state in ("queued", "running"):
        time.sleep(POLL_SECONDS)
        run = client.imports.get(run.id)
    return run


def conversations(file: Path) -> bytes:
    """Returns only the export's conversations, compressed: pictures would exceed the size limit."""
    if not zipfile.is_zipfile(file):
        return file.read_bytes()
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(file) as export,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as talk,
    ):
        for name in export.namelist():
            if fnmatch(Path(name).name, CONVERSATIONS):
                talk.writestr(Path(name).name, export.read(name))
    return packed.getvalue()


if __name__ == "__main__":
    sys.exit(main())

"""Runs commands of manage.py in this process for whoever posts their arguments.

Loading Django anew for each command of a script would take most of the script's time.
"""

from __future__ import annotations

import io
import subprocess
import time
from contextlib import redirect_stdout
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

from django.core.management import CommandError, call_command
from django.db import connections

_SHELL_FUNCTION = (
    "manage() { local given=() each;"
    ' for each in "$@"; do given+=(--data-urlencode "argument=$each"); done;'
    ' command curl -sS --fail-with-body "${given[@]}" %s; }'
)


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        status, said = 200, io.StringIO()
        try:
            with redirect_stdout(said):
                call_command(*parse_qs(body)["argument"], stdout=said, stderr=said)
        except (CommandError, SystemExit) as error:
            said.write(f"{type(error).__name__}: {error}\n")
            status = 500
        finally:
            connections.close_all()
        self.send_response(status)
        self.end_headers()
        self.wfile.write(said.getvalue().encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Nothing."""


class CommandServer(HTTPServer):
    """Serves in the thread that asks for it, as some commands take signals."""

    timeout = 0.05

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def shell_function(self) -> str:
        """`manage`, which stands for manage.py in a script."""
        return _SHELL_FUNCTION % f"http://127.0.0.1:{self.server_address[1]}"

    def serve_until_end(self, process: subprocess.Popen[str], *, seconds: float) -> int:
        """Serve while the process runs, at most so long; its exit code."""
        deadline = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < deadline:
            self.handle_request()
        process.kill()
        return process.wait()

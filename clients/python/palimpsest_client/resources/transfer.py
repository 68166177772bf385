"""In and out: files of other systems, and everything of a team."""

from __future__ import annotations

from typing import Unpack

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Id, Paged, Streamed, get, pages, post
from palimpsest_client.operations import Resource, SenderT, operation


class Imports(Resource[SenderT]):
    """`/v1/imports`; needs a key of the team."""

    @operation
    def start(self, content: bytes, **query: Unpack[p.ImportsStartQuery]) -> Call[m.ImportRun]:
        """Import the content of a file; it is checked at once and written in the background."""
        return post("/v1/imports", m.ImportRun, body=content, query=query)

    @operation
    def list(self, **query: Unpack[p.ImportsListQuery]) -> Paged[m.ImportPage, m.ImportRun]:
        """The imports, the latest first."""
        return pages("/v1/imports", m.ImportPage, query=query)

    @operation
    def get(self, import_id: Id) -> Call[m.ImportRun]:
        """One import, with how far it got."""
        return get("/v1/imports/{id}", m.ImportRun, import_id)

    @operation
    def cancel(self, import_id: Id) -> Call[m.ImportRun]:
        """End it before its next batch; what it stored stays."""
        return Call("DELETE", "/v1/imports/{id}", {200: m.ImportRun}, (import_id,))


class Team(Resource[SenderT]):
    """`/v1/team` and `/v1/export`; needs a key of the team."""

    @operation
    def get(self) -> Call[m.TeamSettings]:
        """The team's budgets and extraction instructions."""
        return get("/v1/team", m.TeamSettings)

    @operation
    def change(self, **change: Unpack[p.TeamSettingsChange]) -> Call[m.TeamSettings]:
        """Change them; what is left out stays."""
        return Call("PATCH", "/v1/team", {200: m.TeamSettings}, body=change)

    @operation
    def export(self) -> Streamed[str]:
        """Everything of the team, line by line, each as it is to be written to a file.

        The last line is a manifest; without it the export was cut off.
        """
        return Streamed(get("/v1/export", str), _line)


def _line(text: str) -> str:
    return f"{text}\n"

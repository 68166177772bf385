"""Agents, users and projects."""

from __future__ import annotations

from typing import Unpack

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Paged, get, get_unless, pages, post, put
from palimpsest_client.operations import Resource, SenderT, operation


class Agents(Resource[SenderT]):
    """`/v1/agents`."""

    @operation
    def list(self, **query: Unpack[p.AgentsListQuery]) -> Paged[m.AgentPage, m.Agent]:
        """The agents, by their slugs."""
        return pages("/v1/agents", m.AgentPage, query=query)

    @operation
    def get(self, slug: str, *, known_version: int | None = None) -> Call[m.Agent | None]:
        """An agent's document; None where `known_version` is still the one that stands."""
        return get_unless(known_version, "/v1/agents/{slug}", m.Agent, slug)

    @operation
    def save(
        self,
        slug: str,
        *,
        version: int | None = None,
        is_new: bool = False,
        **document: Unpack[p.AgentDocument],
    ) -> Call[m.Agent]:
        """Replace its document: only over this `version`, or only where there is no agent yet."""
        path = "/v1/agents/{slug}"
        return put(path, m.Agent, slug, body=document, version=version, is_new=is_new)

    @operation
    def versions(
        self, slug: str, **query: Unpack[p.AgentsVersionsQuery]
    ) -> Paged[m.AgentVersionPage, m.AgentVersion]:
        """The versions of its document, the latest first."""
        return pages("/v1/agents/{slug}/versions", m.AgentVersionPage, slug, query=query)


class Users(Resource[SenderT]):
    """`/v1/users`."""

    @operation
    def list(self, **query: Unpack[p.UsersListQuery]) -> Paged[m.UserPage, m.EndUser]:
        """The people, the latest first."""
        return pages("/v1/users", m.UserPage, query=query)

    @operation
    def get(self, external_id: str) -> Call[m.Person]:
        """One person."""
        return get("/v1/users/{external_id}", m.Person, external_id)

    @operation
    def change(self, external_id: str, **change: Unpack[p.UserChange]) -> Call[m.Person]:
        """Change a person's name."""
        path = "/v1/users/{external_id}"
        return Call("PATCH", path, {200: m.Person}, (external_id,), body=change)

    @operation
    def erase(
        self, external_id: str, **query: Unpack[p.UsersEraseQuery]
    ) -> Call[m.Erased | m.ErasureToConfirm]:
        """Erase a person for good: first what would go, then, with its `confirmation`, erased."""
        answers = {200: m.Erased, 202: m.ErasureToConfirm}
        return Call("DELETE", "/v1/users/{external_id}", answers, (external_id,), query)


class Projects(Resource[SenderT]):
    """`/v1/projects`."""

    @operation
    def list(self, **query: Unpack[p.ProjectsListQuery]) -> Paged[m.ProjectPage, m.Project]:
        """The projects, by their slugs."""
        return pages("/v1/projects", m.ProjectPage, query=query)

    @operation
    def get(self, slug: str) -> Call[m.Project]:
        """One project."""
        return get("/v1/projects/{slug}", m.Project, slug)

    @operation
    def change(self, slug: str, **change: Unpack[p.ProjectChange]) -> Call[m.Project]:
        """Change its settings."""
        return Call("PATCH", "/v1/projects/{slug}", {200: m.Project}, (slug,), body=change)

    @operation
    def clear(self, slug: str, **project: Unpack[p.ClearProject]) -> Call[m.Cleared]:
        """Delete its memories, whose name is typed to confirm it; they can be restored."""
        return post("/v1/projects/{slug}/clear", m.Cleared, slug, body=project)

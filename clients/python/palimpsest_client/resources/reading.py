"""Questions: what is remembered, for a prompt or for a task."""

from __future__ import annotations

from typing import Unpack

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, get, post
from palimpsest_client.operations import Resource, SenderT, operation


class Reading(Resource[SenderT]):
    """The operations that stand on the client itself."""

    @operation
    def retrieve(self, **question: Unpack[p.Retrieve]) -> Call[m.Retrieval]:
        """The memories for a question, as a prompt block and in brief for each memory."""
        return post("/v1/retrieve", m.Retrieval, body={**question, "return": "brief"})

    @operation
    def retrieve_full(self, **question: Unpack[p.Retrieve]) -> Call[m.FullRetrieval]:
        """The same with the whole memories."""
        return post("/v1/retrieve", m.FullRetrieval, body={**question, "return": "full"})

    @operation
    def query(self, **question: Unpack[p.MemoryQuery]) -> Call[m.BulletAnswer]:
        """The memories for a question, as bullets."""
        return post("/v1/memory/query", m.BulletAnswer, body={**question, "return": "bullets"})

    @operation
    def query_full(self, **question: Unpack[p.MemoryQuery]) -> Call[m.FullAnswer]:
        """The same as whole memories."""
        return post("/v1/memory/query", m.FullAnswer, body={**question, "return": "full"})

    @operation
    def prompt(self, **prompt: Unpack[p.Prompt]) -> Call[m.BuiltPrompt]:
        """The agent's whole prompt for a question."""
        return post("/v1/prompt", m.BuiltPrompt, body=prompt)

    @operation
    def route(self, **request: Unpack[p.RouteRequest]) -> Call[m.Route]:
        """Returns the language model that would answer."""
        return post("/v1/route", m.Route, body=request)

    @operation
    def budget(self, **query: Unpack[p.BudgetQuery]) -> Call[m.BudgetLeft]:
        """The remaining budget."""
        return get("/v1/budget", m.BudgetLeft, query=query)

    @operation
    def report_usage(self, **report: Unpack[p.UsageReport]) -> Call[m.UsageReported]:
        """Say which memories of an answer were of use."""
        return post("/v1/usage", m.UsageReported, body=report)

    @operation
    def learn_patterns(self, **files: Unpack[p.Learn]) -> Call[m.Learned]:
        """Learn the shapes that repeat in source code."""
        return post("/v1/patterns/learn", m.Learned, body=files)

    @operation
    def clear_team(self, **team: Unpack[p.ClearTeam]) -> Call[m.Cleared]:
        """Delete the team's memories, whose name is typed to confirm it; they can be restored."""
        return post("/v1/team/clear", m.Cleared, body=team)


class Context(Resource[SenderT]):
    """`/v1/context` and `/v1/memory`: context for the work in hand."""

    @operation
    def assemble(self, **work: Unpack[p.Assemble]) -> Call[m.WorkingContext]:
        """The context of work in progress, in tiers."""
        return post("/v1/context/assemble", m.WorkingContext, body=work)

    @operation
    def package(self, **task: Unpack[p.PackageRequest]) -> Call[m.Package]:
        """The context of a task."""
        return post("/v1/context/package", m.Package, body=task)

    @operation
    def predict(self, **signals: Unpack[p.Predict]) -> Call[m.Prediction]:
        """Predicts the memories that the current work will need."""
        return post("/v1/context/predict", m.Prediction, body=signals)

    @operation
    def expand(self, **query: Unpack[p.ContextExpandRetrieveQuery]) -> Call[m.ExpandedTopic]:
        """A topic of the index in full."""
        return get("/v1/context/expand", m.ExpandedTopic, query=query)

    @operation
    def of_request(self, **query: Unpack[p.MemoryContextRetrieveQuery]) -> Call[m.Context]:
        """Read-only context for a request."""
        return get("/v1/memory/context", m.Context, query=query)

    @operation
    def select(self, **request: Unpack[p.Select]) -> Call[m.Selection]:
        """The facts that a request of this type needs."""
        return post("/v1/memory/select", m.Selection, body=request)

    @operation
    def conflicts(self, **query: Unpack[p.MemoryConflictsRetrieveQuery]) -> Call[m.ConflictGroups]:
        """Memories that conflict, in groups."""
        return get("/v1/memory/conflicts", m.ConflictGroups, query=query)

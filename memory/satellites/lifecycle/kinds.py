"""The steps that can be planned and the kinds of changes that can be made and taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from memory.satellites.lifecycle import conflicting, forgetting, linking, merging, shortening
from memory.satellites.lifecycle import linking as edges
from memory.satellites.lifecycle.runs import Batch as Batch
from memory.satellites.lifecycle.runs import Executor
from memory.satellites.lifecycle.steps import Json, Kind, Page, Scope, Step
from memory.understanding.tools import Tools

# Reads a page of its candidates, from a cursor on, and says what to change; call it in no
# transaction, for it may ask a model.
Plan: TypeAlias = Callable[[Scope, Json, Tools], Page]


PLANS: Mapping[Step, Plan] = {
    Step.DEDUPLICATE: merging.plan,
    Step.COMPRESS: shortening.plan,
    Step.RANK: forgetting.plan_ranks,
    Step.CONTRADICTIONS: conflicting.plan,
    Step.FORGET: forgetting.plan_forgetting,
    Step.LINK: linking.plan,
}
EXECUTORS: Mapping[str, Executor] = {
    Kind.MERGE: merging.Merge(),
    Kind.SHORTEN: shortening.Shorten(),
    Kind.LINK: edges.Link(),
    Kind.WEAKEN: edges.Weaken(),
    Kind.UNLINK: edges.Unlink(),
    Kind.SUPERSEDE: conflicting.Conflicts(),
    Kind.DISPUTE: conflicting.Conflicts(),
    Kind.MOVE_TIER: forgetting.MoveTier(),
    Kind.EXPIRE: forgetting.Expire(),
}

"""A team's overrides of the defaults: features, read-only context, consolidation."""

from __future__ import annotations

import re
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, Field

from .agent_document import Category, Share
from .documents import Part, Text, listed, once

LEAST_CHARS = 400
MOST_CHARS = 100_000
MAX_CATEGORIES = 50
SCOPES = ("session", "project", "user", "team")
# The steps of a consolidation, then what has tasks of its own.
Step = Literal[
    "deduplicate", "compress", "rank", "contradictions", "forget", "link", "expire", "team_facts"
]
Days = Annotated[int, Field(ge=0, le=3_650)]
SomeDays = Annotated[int, Field(ge=1, le=3_650)]
_Names = Annotated[list[Category], Field(max_length=MAX_CATEGORIES), AfterValidator(once)]
Names = Annotated[_Names, BeforeValidator(listed)]


class Flags(Part):
    """Switches of whole parts (seed 000, FeatureFlags): the installation's under a team's."""

    memory: bool = True
    """Off: nothing is extracted or retrieved. Stored messages and memories stay."""
    compaction_shield: bool = True
    """Off: messages may be dropped from the context before memories are extracted from them."""
    contradiction_detection: bool = True
    """Off: a new memory never replaces or disputes another one automatically."""
    model_routing: bool = True
    """Off: an agent uses only the model that its own page names."""
    team_facts: bool = True
    """Off: a statement about the team stays with the person who made it until somebody shares it
    with the team. Pending statements are listed under Memories."""
    episodes: bool = True
    """Off: idle conversations are not summarised as episodes."""
    insights: bool = True
    """Off: no insights about people are derived from their memories."""

    def overridden(self, overrides: object) -> Self:
        """Returns these flags with a team's own; what is not valid is passed over."""
        own = Flags.usable(overrides).chosen() if overrides else {}
        return self.model_copy(update=own) if own else self


FLAGS = tuple(Flags.model_fields)


class RequestCategories(Part):
    """The categories that are relevant for each kind of request.

    Seed 001, "Memory Selection Rules", in the words of our categories; the types that it does not
    name have what such requests need. "*" is every category but preferences and procedures.
    """

    coding: Names = Field(
        default=["decision", "constraint", "technical_fact", "convention", "procedure"],
        title="Categories for coding requests",
    )
    """`*` means every category except preferences and procedures."""
    output_format: Names = Field(
        default=["preferences"], title="Categories for output format requests"
    )
    general: Names = Field(default=["*"], title="Categories for general requests")
    planning: Names = Field(
        default=["decision", "constraint", "event", "technical_fact", "goal"],
        title="Categories for planning requests",
    )
    personal: Names = Field(
        default=["profile", "preferences", "event"], title="Categories for personal requests"
    )
    troubleshooting: Names = Field(
        default=[
            "failure",
            "technical_fact",
            "decision",
            "constraint",
            "convention",
            "procedure",
            "event",
        ],
        title="Categories for troubleshooting requests",
    )


class ContextSettings(Part):
    """Settings to choose and render facts as read-only context (seed 001, "Configuration")."""

    scope_priority: Annotated[
        list[Literal["session", "project", "user", "team"]],
        Field(min_length=1, max_length=len(SCOPES)),
        AfterValidator(once),
    ] = Field(default=["session", "project", "user", "team"], title="Order of scopes")
    """The order in which scopes are searched. Scopes that are not listed are not searched."""
    confidence_threshold: Share = Field(default=0.7, title="Minimum confidence")
    """Less certain facts are left out."""
    general_confidence: Share = Field(default=0.9, title="Minimum confidence for general requests")
    """For requests that are of none of the kinds below."""
    max_chars: Annotated[int, Field(ge=LEAST_CHARS, le=MOST_CHARS)] = Field(
        default=5_000, title="Maximum characters"
    )
    """Length of the whole block."""
    detect_conflicts: bool = Field(default=True, title="Resolve conflicts")
    """On: of two conflicting facts, the more certain or else the newer one is included; if neither
    is, both are, marked as disputed. Off: both are included unmarked."""
    read_only_marker: bool = Field(default=True, title="Read-only notice")
    """On: the block says that it is read-only."""
    enough_facts: Annotated[int, Field(ge=1, le=1_000)] = 10
    """Number of facts after which no further scope is searched."""
    enough_share: Share = Field(default=0.5, title="Enough characters")
    """Share of the maximum characters after which no further scope is searched."""
    categories: RequestCategories = RequestCategories()


class LifecycleSettings(Part):
    """Limits of merging, shortening, ranking and forgetting (seeds 000, 002 and 004)."""

    off: Annotated[list[Step], Field(max_length=8), AfterValidator(once)] = Field(
        default=[], title="Disabled steps"
    )
    """Steps of consolidation that do not run."""
    pairs_per_person: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=50, title="Maximum judged pairs"
    )
    """Pairs of memories compared per day and person, or project of team memories."""
    cost_usd: Annotated[float, Field(ge=0, le=10_000)] = Field(
        default=1.0, title="Maximum cost of a run"
    )
    """Model cost in USD."""
    summarise_after_days: Days = Field(default=7, title="Days until summarised")
    """Afterwards prompts show an episode as its summary."""
    compress_after_days: Days = Field(default=30, title="Days until compressed")
    """Afterwards prompts show an episode as keywords."""
    cold_after_days: SomeDays = Field(default=90, title="Days until cold")
    """Unused, unimportant memories become cold: they are found only on request."""
    expire_after_days: SomeDays = Field(default=60, title="Days until deleted")
    """Counted from the last time that the memory was used."""
    expire_below: Annotated[int, Field(ge=1, le=8)] = Field(default=3, title="Importance to keep")
    """Memories of at least this importance never expire."""
    purge_after_days: SomeDays = Field(default=30, title="Days until purged")
    """Counted from the deletion. Until then the memory can be restored."""
    purge_erases: bool = Field(default=False, title="Erase on purge")
    """On: purged memories are also erased from time travel, permanently."""

    def does(self, part: str) -> bool:
        """Returns whether the team lets this part run."""
        return part not in self.off


# Seed 004, section 10; "name" is what "My name is ..." tells, beside what somebody is called.
DEFAULT_SENSITIVE_FIELDS = ("preferred_name", "name", "pronouns", "city", "language")
_PROFILE_FIELD = re.compile(r"[a-z][a-z0-9_]{0,49}")


def _check_profile_field(name: str) -> str:
    if not _PROFILE_FIELD.fullmatch(name):
        raise ValueError("Write up to 50 lower-case letters, digits and _, such as home_address.")
    return name


ProfileField = Annotated[str, Text(50), AfterValidator(_check_profile_field)]


def default_sensitive_fields() -> list[str]:
    """Returns those of a new team, as a list of its own."""
    return list(DEFAULT_SENSITIVE_FIELDS)


class TeamSettings(Part):
    """The settings of a team that are kept as JSON."""

    sensitive_fields: Annotated[list[ProfileField], Field(max_length=30), AfterValidator(once)] = (
        Field(default=list(DEFAULT_SENSITIVE_FIELDS), title="Sensitive fields")
    )
    """Profile fields of a person, such as city. A new value waits in the inbox until
    somebody approves it."""
    context_settings: ContextSettings = ContextSettings()
    lifecycle_settings: LifecycleSettings = LifecycleSettings()
    feature_flags: Flags = Flags()


@lru_cache(maxsize=256)
def known_zone(name: str) -> ZoneInfo | None:
    """Returns the zone of an IANA name such as "Europe/Oslo"; None where there is none."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # Unknown names, what is no name, and folders of zones.
        return None


def zone_or_utc(name: str) -> tzinfo:
    """Returns the zone of that name; UTC where this machine does not know it."""
    return known_zone(name) or UTC

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
    """Off: nothing is remembered or retrieved; messages and memories are kept."""
    compaction_shield: bool = True
    """Off: messages can leave a context before memories are extracted from them."""
    contradiction_detection: bool = True
    """Off: a new memory never supersedes or disputes another one by itself."""
    model_routing: bool = True
    """Off: an agent uses only the model of its document."""
    team_facts: bool = True
    """Off: what somebody says of the team stays with this person until it is given to the team;
    what is pending is listed under Memories."""
    episodes: bool = True
    """Off: talk at rest is not told as an episode."""
    insights: bool = True
    """Off: no insights about people are drawn from what is known."""

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
    """`*` is every category but preferences and procedures."""
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
    """In which they are asked; one that is missing is not asked."""
    confidence_threshold: Share = Field(default=0.7, title="Least confidence")
    """What is less certain is left out."""
    general_confidence: Share = Field(default=0.9, title="Least confidence for general requests")
    """The same for a request of no particular kind."""
    max_chars: Annotated[int, Field(ge=LEAST_CHARS, le=MOST_CHARS)] = Field(
        default=5_000, title="Most characters"
    )
    """Of the whole block."""
    detect_conflicts: bool = Field(default=True, title="Settle conflicts")
    """The more certain of two facts is included, else the newer, else both, marked as disputed.
    Off: both are included verbatim."""
    read_only_marker: bool = True
    """Off: the block does not say that it is read-only."""
    enough_facts: Annotated[int, Field(ge=1, le=1_000)] = 10
    """With so many no further scope is asked."""
    enough_share: Share = Field(default=0.5, title="Enough of the block")
    """With so much of the characters filled no further scope is asked."""
    categories: RequestCategories = RequestCategories()


class LifecycleSettings(Part):
    """When memories are merged, shortened, ranked and forgotten (seeds 000, 002 and 004)."""

    off: Annotated[list[Step], Field(max_length=8), AfterValidator(once)] = Field(
        default=[], title="Switched off"
    )
    """Parts that do not run."""
    pairs_per_person: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=50, title="Judged pairs"
    )
    """A person and day, at most."""
    cost_usd: Annotated[float, Field(ge=0, le=10_000)] = Field(default=1.0, title="Cost of a run")
    """In USD, for models, at most."""
    summarise_after_days: Days = Field(default=7, title="Days until a summary")
    """Then prompts render an episode by its summary."""
    compress_after_days: Days = Field(default=30, title="Days until compressed")
    """Then prompts render an episode in key words."""
    cold_after_days: SomeDays = Field(default=90, title="Days until cold")
    """Of what is unimportant and unused."""
    expire_after_days: SomeDays = Field(default=60, title="Days until soft-deleted")
    """Since anybody asked for it."""
    expire_below: Annotated[int, Field(ge=1, le=8)] = Field(
        default=3, title="Importance that never expires"
    )
    """What is less important may."""
    purge_after_days: SomeDays = Field(default=30, title="Days until purged")
    """Since it was soft-deleted; until then it can be restored."""
    purge_erases: bool = Field(default=False, title="Purging erases")
    """On: what is purged is erased for good, from the past as well."""

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
        Field(default=list(DEFAULT_SENSITIVE_FIELDS), title="Sensitive fields of a person")
    )
    """Such as city, pronouns. A new value of one of them waits under Consent requests until
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

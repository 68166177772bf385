"""The plan of `retrieve`: identity, pinned, the profile, then the best (seed 000, step 5)."""

from __future__ import annotations

from dataclasses import replace

from ..packing import Room
from ..rendering import Line
from ..types import MemoryType
from .plan import Plan, Section, always, is_pinned

IDENTITY_RESERVE = 200
PINNED_RESERVE = 300
USER_PROFILE_RESERVE = 200
USER_PROFILE = "user_profile"


def is_identity(line: Line) -> bool:
    """What the agent knows of itself."""
    return line.memory_type == MemoryType.IDENTITY


def is_profile(line: Line) -> bool:
    """What is known of the user across all agents."""
    return line.memory_type == MemoryType.USER_PROFILE


RETRIEVAL = Plan(
    name="retrieval",
    sections=(
        Section(Room("identity", reserve=IDENTITY_RESERVE), takes=is_identity, must=always),
        Section(Room("pinned", reserve=PINNED_RESERVE), takes=is_pinned, must=always),
        Section(Room(USER_PROFILE, reserve=USER_PROFILE_RESERVE), takes=is_profile),
        Section(Room("rest"), takes=always),
    ),
    mandatory="identity and pinned memories",
)


def about_nobody(plan: Plan) -> Plan:
    """The plan for who names no user: a profile stands by its score, as nobody was asked for."""
    return replace(
        plan,
        sections=tuple(
            replace(each, room=replace(each.room, reserve=0))
            if each.room.name == USER_PROFILE
            else each
            for each in plan.sections
        ),
    )


RETRIEVAL_ABOUT_NOBODY = about_nobody(RETRIEVAL)

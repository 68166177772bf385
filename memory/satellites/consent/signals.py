"""Independent signals for a proposed change of a profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

# Seed 004, section 10: such requests end after a week.
LIFETIME = timedelta(days=7)
SIGNALS_NEEDED = 2


@dataclass(frozen=True, slots=True)
class Signal:
    """One time that a value was proposed: in which conversation and on which day."""

    conversation_id: UUID | None
    day: date
    message_ids: tuple[UUID, ...] = ()


def independent_signals(signals: Iterable[Signal]) -> int:
    """How many signals are of different conversations or days."""
    return len({(each.conversation_id, each.day) for each in signals})


def signal_as_json(signal: Signal) -> dict[str, object]:
    """The signal as a request keeps it."""
    return {
        "conversation": str(signal.conversation_id) if signal.conversation_id else None,
        "day": signal.day.isoformat(),
        "messages": [str(each) for each in signal.message_ids],
    }


def signal_from_json(kept: Mapping[str, object]) -> Signal:
    """The signal that a request kept."""
    messages = kept.get("messages")
    return Signal(
        conversation_id=UUID(str(kept["conversation"])) if kept.get("conversation") else None,
        day=date.fromisoformat(str(kept["day"])),
        message_ids=tuple(UUID(str(each)) for each in messages)
        if isinstance(messages, list)
        else (),
    )

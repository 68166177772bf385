"""Messages as lines of a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .escaping import escaped_line, plain_line
from .rendering import SAID_LABEL

MOST_NAME_CHARS = 40


@dataclass(frozen=True, slots=True)
class SaidLine:
    """A line of a prompt that quotes a message; `text` is an excerpt."""

    text: str
    speaker: str
    said_at: datetime

    def render(self) -> str:
        """One line with its day and speaker; neither name nor text can open anything."""
        name = escaped_line(plain_line(self.speaker)[:MOST_NAME_CHARS])
        name = name.replace("[", "&#91;").replace("]", "&#93;")
        return f"[{SAID_LABEL} {self.said_at:%Y-%m-%d} by {name}]: {escaped_line(self.text)}"

"""Messages to a language model, and the errors of asking one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class FailureKind(StrEnum):
    """The reason for a missing answer, as far as a caller can act on it."""

    UNAVAILABLE = "unavailable"
    REFUSED = "refused"
    MALFORMED = "malformed"
    MISCONFIGURED = "misconfigured"


class ModelError(Exception):
    """A model gave no usable answer; the message never holds a prompt, text, answer or key."""

    def __init__(self, message: str, *, kind: FailureKind) -> None:
        super().__init__(message)
        self.kind = kind


class CompletionError(ModelError):
    """A model gave no usable completion."""


class EmbeddingError(ModelError):
    """A model gave no usable vectors."""

"""Whether the vectors of the data are those of the model that is set, for the operator."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError, connection

from memory.models import EmbeddingState
from memory.services.indexing.embedded_kinds import KINDS, lacking_vector
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

ACTOR = "embedding_status"


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """Whose vectors the memories have: `active` is what searches use, `wanted` what is set.

    `lacking` memories and `lacking_messages` messages have no vector of the wanted model.
    """

    active: str
    wanted: str
    lacking: int
    lacking_messages: int = 0

    @property
    def line(self) -> str:
        """What an operator must know, in one line; empty when there is nothing to do."""
        if not self.lacking and not self.lacking_messages and self.active == self.wanted:
            return ""
        if self.active == self.wanted:
            return (
                f"{self._what} have no vector of {self.wanted}:"
                " run «manage.py reembed»; until then searches find them by their words alone"
            )
        return (
            f"{self._what} are embedded with {self.active}, the settings say"
            f" {self.wanted}: run «manage.py reembed»; until then searches by meaning use"
            f" {self.active}"
        )

    @property
    def _what(self) -> str:
        messages = f" and {self.lacking_messages} messages" if self.lacking_messages else ""
        return f"{self.lacking} memories{messages}"


def embedding_status(*, wanted: str) -> EmbeddingStatus:
    """Compare the data with the model that is set, over all teams.

    Without any memory there is nothing to compare, and the wanted model becomes the active one.
    """
    state = EmbeddingState.objects.first()
    with team_scope(team_ids=all_team_ids(), actor=ACTOR):
        lacking = [lacking_vector(kind.rows(), wanted).count() for kind in KINDS]
        is_empty = not any(lacking) and not any(kind.rows().exists() for kind in KINDS)
    active = wanted if state is None or is_empty else state.model
    return EmbeddingStatus(active, wanted, *lacking)


def log_embedding_status(*, wanted: str) -> None:
    """Say in the log of a starting process what an operator must know, if anything."""
    try:
        line = embedding_status(wanted=wanted).line
    except (DatabaseError, InterfaceError):
        # A server starts without its database and answers 503 until it is there.
        return
    finally:
        connection.close()
    if line:
        # An error, as the launcher shows no lesser lines to the person at the shell.
        logger.error("%s", line)

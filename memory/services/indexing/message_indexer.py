"""A thread of the process that indexes what was just posted, so that no request waits for it."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection, transaction

from memory.clients.tools import Tools
from memory.services.indexing.message_index import index_team
from teams.errors import UnavailableError

logger = logging.getLogger(__name__)

# What is posted within so many seconds is embedded together.
_GATHER_SECONDS = 0.02
# Where much is said, no more often than this: it takes the processor from those who ask.
_REST_SECONDS = 0.2
_IDLE_SECONDS = 5.0
# So many messages of a team at a time; a large import is the sweep's.
_MOST = 1_000


@dataclass(slots=True)
class _Indexer:
    """Teams in which messages wait; a thread while there are any, and a little longer."""

    _teams: dict[UUID, Tools] = field(default_factory=dict)
    _woken: threading.Condition = field(default_factory=threading.Condition)
    _thread: threading.Thread | None = None
    _is_ending: bool = False

    def end(self) -> None:
        with self._woken:
            thread, self._is_ending = self._thread, True
            self._woken.notify()
        if thread is not None:
            thread.join()
        self._is_ending = False

    def wake(self, team_id: UUID, tools: Tools) -> None:
        with self._woken:
            self._teams[team_id] = tools
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="index", daemon=True)
                self._thread.start()
            self._woken.notify()

    def _run(self) -> None:
        while True:
            with self._woken:
                self._woken.wait_for(lambda: self._teams or self._is_ending, _IDLE_SECONDS)
                if not self._teams:
                    self._thread = None
                    return
            time.sleep(_GATHER_SECONDS)
            with self._woken:
                teams, self._teams = self._teams, {}
            for team_id, tools in teams.items():
                _index(team_id, tools)
            connection.close()
            with self._woken:
                self._woken.wait_for(lambda: self._is_ending, _REST_SECONDS)


def _index(team_id: UUID, tools: Tools) -> None:
    try:
        index_team(team_id=team_id, tools=tools, most=_MOST)
    except (UnavailableError, DatabaseError, InterfaceError):
        logger.warning("New messages of team %s wait for the sweep to be indexed.", team_id)
    except Exception:
        # Whatever an embedder may raise: the thread serves other teams, the sweep this one.
        logger.exception("New messages of team %s were not indexed.", team_id)


_indexer = _Indexer()


def index_soon(*, team_id: UUID, tools: Tools) -> None:
    """Index the team's new messages in the background once the transaction commits.

    Lost with the process, as any thread; the sweep finds what still waits.
    """
    transaction.on_commit(lambda: _indexer.wake(team_id, tools))


def finish_indexing() -> None:
    """Index what waits in this process, and return once its thread has ended."""
    _indexer.end()

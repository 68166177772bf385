"""Does before the first request of a process what it would wait for."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection
from django.urls import get_resolver
from django.utils import timezone

logger = logging.getLogger(__name__)

_NOBODY = UUID(int=0)


def warm_up() -> bool:
    """Loads the API, the embedder and the judge, and reads once, so that a connection has plans.

    Returns whether that read was made; a process serves without it too.
    """
    get_resolver().url_patterns  # noqa: B018 - a property that imports every view
    _judge_once()
    return _read_once()


def _judge_once() -> None:
    from memory.domain.types import Statement
    from memory.understanding.judging import small_judge

    now = timezone.now()
    small_judge().judge(
        existing=Statement("Dana lives in Paris.", now),
        new=Statement("Dana lives in Oslo now.", now),
    )


def _read_once() -> bool:
    from memory.domain.audience import Viewer
    from memory.domain.scoring import Weights
    from memory.reading.ranking import Question
    from memory.reading.retrieval import Read, packing_for, prompt
    from memory.understanding.tools import default_tools
    from teams.errors import UnavailableError

    viewer = Viewer(_NOBODY, actor="warm-up", agent_id=_NOBODY, end_user_id=_NOBODY)
    try:
        prompt(
            Read(
                viewer=viewer,
                question=Question("What is remembered of this?"),
                is_counted=False,
                tools=default_tools(),
                now=timezone.now(),
            ),
            packing=packing_for(weights=Weights(), token_budget=1_000),
        )
    except (DatabaseError, InterfaceError, UnavailableError) as error:
        logger.warning("Serving without having warmed up: %s", error)
        return False
    finally:
        # Back into the pool, with what it has planned.
        connection.close()
    return True

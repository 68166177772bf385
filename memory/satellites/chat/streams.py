"""Streamed answers: whatever arrived is stored and counted, also if either side disconnects."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import partial

from memory.satellites.chat.answering import Prepared, Used, asked, settle_call
from memory.satellites.chat.asking import Json
from memory.satellites.chat.citing import GivenAnswer, note_citations
from routing.services.calling import AnswerStream, open_stream
from routing.services.decisions import Outcome
from teams.errors import UnavailableError
from teams.tenancy import give_back_connection

logger = logging.getLogger(__name__)


class LiveAnswer:
    """The chunks of an answer, to be iterated once and closed in any case.

    However it ends, what came of the answer is stored, as partial where it did not come to its end,
    and what it cost is counted; both before the last chunk is given out. No database connection is
    held while it runs.
    """

    def __init__(
        self, *, prepared: Prepared, stream: AnswerStream, outcomes: Sequence[Outcome]
    ) -> None:
        self.prepared = prepared
        self._stream = stream
        # Filled when the stream ends.
        self._outcomes = outcomes
        self._is_ended = False
        self._is_stored = False

    @property
    def used(self) -> Used:
        """What it took so far."""
        return self._stream

    @property
    def message(self) -> Json:
        """The assistant's message so far."""
        return self._stream.message

    def __iter__(self) -> Iterator[tuple[Json, bool]]:
        """The protocol's chunks, each with whether the answer is stored and counted by then.

        Raises StreamCutError when the endpoint breaks off, and UnavailableError instead of the last
        chunk where the answer could not be stored.
        """
        held: list[Json] = []
        try:
            for chunk in self._stream:
                # The end is told when everything is done: who has seen it may rely on it.
                if held or self._stream.finish_reason is not None:
                    held.append(chunk)
                else:
                    yield chunk, False
        finally:
            self.close()
        if not self._is_stored:
            raise UnavailableError("The answer could not be stored; send the request again.")
        for chunk in held:
            yield chunk, True

    def stored(self) -> GivenAnswer | None:
        """What of the answer was stored, None for nothing so far."""
        is_partial = self._stream.finish_reason is None
        return GivenAnswer(self._stream.message, is_partial) if self._is_stored else None

    def close(self) -> None:
        """Stop the model, store what came and count it; harmless twice. Raises nothing."""
        if self._is_ended:
            return
        self._is_ended = True
        stream = self._stream
        try:
            stream.close()
        except Exception:
            # A broken connection to the endpoint must not keep the answer from being stored.
            logger.exception("A stream was not closed.")
        try:
            settle_call(
                self.prepared,
                stream,
                message=stream.message,
                is_partial=stream.finish_reason is None,
                outcomes=self._outcomes,
            )
            self._is_stored = True
        except Exception:
            # Whoever still reads is told by the iteration.
            logger.exception("An answer was not stored.")
        give_back_connection()


def stream_chat(*, prepared: Prepared) -> LiveAnswer:
    """Ask the model and wait for its first words.

    Raises what `routing.services.calling.open_stream` raises: then nothing is held or counted.
    """
    outcomes: list[Outcome] = []
    prepared, stream = asked(prepared=prepared, ask=partial(open_stream, keep=outcomes.append))
    # What failed before may have been written down.
    give_back_connection()
    live = LiveAnswer(prepared=prepared, stream=stream, outcomes=outcomes)
    note_citations(prepared.exchange.viewer, prepared.context, answer=live.stored)
    return live

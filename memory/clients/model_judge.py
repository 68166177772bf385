"""The judge that asks a language model and falls back to the rules."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from memory.clients.judge_prompts import VERDICTS, ProposedJudgement, judge_prompt
from memory.clients.judgement_cache import JudgementCache, pair_key
from memory.domain.ports import Judge
from memory.domain.types import Judgement, Statement, Verdict
from routing.clients.endpoints import EndpointRest
from routing.clients.protocol import CompletionError, FailureKind
from routing.clients.structured_calls import StructuredCompletions

logger = logging.getLogger(__name__)

_THREADS = 4
# These verdicts drop or retire a fact, so a model must hold them for likely.
_TAKES_AWAY = frozenset({Verdict.DUPLICATE, Verdict.SUPERSEDE})
_LIKELY = 0.5
_MAX_REASON = 300


@dataclass(slots=True)
class _Round:
    """One `prepare`: until when it may ask, and whether it must stop before."""

    deadline: float
    stopped: threading.Event = field(default_factory=threading.Event)


class ModelJudge:
    """A `PreparingJudge` through `completions`; thread-safe.

    `prepare` asks the model, up to four pairs at once and for at most about `budget_seconds` (what
    is asked when they end is waited for). `judge` never does: it gives what was prepared, or
    the judgement of `fallback` with that one's name in `judge`. When an unavailable endpoint has
    cost more than `patience_seconds`, it is left alone for `rest_seconds`.
    """

    def __init__(
        self,
        *,
        completions: StructuredCompletions,
        cache: JudgementCache,
        fallback: Judge,
        budget_seconds: float = 60.0,
        patience_seconds: float = 10.0,
        rest_seconds: float = 60.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = judge_name(model=completions.model)
        self._completions = completions
        self._cache = cache
        self._fallback = fallback
        self._budget_seconds = budget_seconds
        self._monotonic = monotonic
        self._rest = EndpointRest(
            patience_seconds=patience_seconds, rest_seconds=rest_seconds, monotonic=monotonic
        )

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The prepared judgement of the pair, else the fallback's; no call leaves the process."""
        prepared = self._cache.get(pair_key(existing=existing, new=new))
        if prepared is not None:
            return prepared
        judgement = self._fallback.judge(existing=existing, new=new)
        return replace(judgement, judge=judgement.judge or self._fallback.name)

    def prepare(self, pairs: Sequence[tuple[Statement, Statement]]) -> None:
        """Ask the model about the pairs of an existing and a new statement that are not known.

        Never call it inside a transaction. It raises nothing: what could not be judged is left to
        the fallback.
        """
        wanted = {
            pair_key(existing=existing, new=new): (existing, new)
            for existing, new in pairs
            # The same words need no model, and the fallback knows them for a duplicate.
            if existing.content != new.content
        }
        known = self._cache.load(list(wanted))
        asked = {key: pair for key, pair in wanted.items() if key not in known}
        now = self._rest.begin()
        if not asked or now is None:
            return
        turn = _Round(deadline=now + self._budget_seconds)
        with ThreadPoolExecutor(min(_THREADS, len(asked))) as pool:
            answers = list(pool.map(lambda pair: self._ask(pair, turn), asked.values()))
        judged = {
            key: answer for key, answer in zip(asked, answers, strict=True) if answer is not None
        }
        self._cache.keep(judged)
        if len(judged) < len(asked):
            left = len(asked) - len(judged)
            logger.warning("%s judges %d of %d pairs", self._fallback.name, left, len(asked))

    def _ask(self, pair: tuple[Statement, Statement], turn: _Round) -> Judgement | None:
        """The model's judgement, None when it gives none that can be used."""
        started = self._monotonic()
        if turn.stopped.is_set() or started >= turn.deadline:
            return None
        existing, new = pair
        try:
            answer = self._completions.complete(
                schema=ProposedJudgement,
                messages=judge_prompt(existing=existing, new=new),
                fault=_without_verdict,
            )
        except CompletionError as error:
            self._note_failure(error, turn, started=started)
            return None
        return _judgement(answer)

    def _note_failure(self, error: CompletionError, turn: _Round, *, started: float) -> None:
        level = logging.ERROR if error.kind is FailureKind.MISCONFIGURED else logging.WARNING
        logger.log(level, "%s gives no judgement (%s): %s", self.name, error.kind, error)
        if error.kind in {FailureKind.UNAVAILABLE, FailureKind.MISCONFIGURED}:
            # The other pairs of this write would fail the same way.
            turn.stopped.set()
        self._rest.note(error, started=started)


def judge_name(*, model: str) -> str:
    """How contradictions say that this model judged them."""
    return f"openai:{model}"


def _without_verdict(answer: ProposedJudgement) -> str:
    """What to tell a model whose verdict is none; "" for one that is."""
    if _verdict(answer) in VERDICTS:
        return ""
    return f"`verdict` must be one of {', '.join(VERDICTS)}."


def _verdict(answer: ProposedJudgement) -> str:
    return answer.verdict.strip().lower()


def _judgement(answer: ProposedJudgement) -> Judgement | None:
    verdict = Verdict(_verdict(answer))
    if verdict in _TAKES_AWAY and answer.confidence < _LIKELY:
        return None
    printable = "".join(char if char.isprintable() else " " for char in answer.reason)
    reason = " ".join(printable.split())[:_MAX_REASON]
    return Judgement(verdict, reason, max(0.0, min(1.0, answer.confidence)))

"""The judge that asks a language model, and its fallback to the rules."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace

from memory.clients.judge_prompts import VERDICTS, ProposedJudgement, judge_prompt
from memory.clients.judgement_cache import JudgementCache, pair_key
from memory.domain.ports import Judge
from memory.domain.quotes import Quoted, held_to_quotes
from memory.domain.types import Asker, Judgement, Statement, Verdict
from routing.clients.endpoints import EndpointRest
from routing.clients.protocol import CompletionError, FailureKind
from routing.clients.structured_calls import StructuredCompletions
from routing.services.cost_guard import BudgetExceededError
from routing.services.paid_calls import PaidCall, Payer, Tariff, paid_call, payer_of, tokens_of

_Pair = tuple[Statement, Statement]

logger = logging.getLogger(__name__)

_THREADS = 4
# These verdicts drop or retire a fact, so a model must hold them for likely.
_TAKES_AWAY = frozenset({Verdict.DUPLICATE, Verdict.SUPERSEDE})
_LIKELY = 0.5
_MAX_REASON = 300
# About what an answer takes.
_ANSWER_TOKENS = 300


class ModelJudge:
    """A `PreparingJudge` through `completions`; thread-safe.

    `prepare` asks the model, up to four pairs at once and for at most about `budget_seconds` (what
    is asked when they end is waited for). `judge` never does: it gives what was prepared, or
    the judgement of `fallback` with that one's name in `judge`. When an unavailable endpoint has
    cost more than `patience_seconds`, it is left alone for `rest_seconds`. A conflict counts as far
    as the model's quotes bear it out; `tells_change` says of a statement whether it tells of a
    change, without a model.
    """

    def __init__(
        self,
        *,
        completions: StructuredCompletions,
        cache: JudgementCache,
        fallback: Judge,
        tariff: Tariff | None = None,
        tells_change: Callable[[str], bool] = lambda _: False,
        budget_seconds: float = 60.0,
        patience_seconds: float = 10.0,
        rest_seconds: float = 60.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = judge_name(model=completions.model)
        self._completions = completions
        self._cache = cache
        self._fallback = fallback
        self._tariff = tariff
        self._tells_change = tells_change
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

    def prepare(
        self,
        pairs: Sequence[tuple[Statement, Statement]],
        *,
        askers: Sequence[Asker] = (),
    ) -> str:
        """Ask the model about the pairs of an existing and a new statement that are not known.

        Never call it inside a transaction. What each call costs counts in the budgets of the
        pair's asker, where there are any. What could not be judged is left to the fallback; the
        answer says why, and is "" where nothing was.
        """
        payable: Sequence[Asker | None] = askers or [None] * len(pairs)
        wanted = {
            pair_key(existing=existing, new=new): ((existing, new), asker)
            for (existing, new), asker in zip(pairs, payable, strict=True)
            # The same words need no model, and the fallback knows them for a duplicate.
            if existing.content != new.content
        }
        known = self._cache.load(list(wanted))
        asked = {key: each for key, each in wanted.items() if key not in known}
        now = self._rest.begin()
        if not asked:
            return ""
        if now is None:
            return self._left(len(asked), len(asked), "no answer a moment ago")
        stopped, deadline = threading.Event(), now + self._budget_seconds
        payers = _payers(asker for _, asker in asked.values())
        problems: set[str] = set()
        paid: dict[str, tuple[_Pair, PaidCall]] = {}
        # Money is held and counted by this thread alone: the others have no connections.
        with ExitStack() as calls, ThreadPoolExecutor(min(_THREADS, len(asked))) as pool:
            try:
                for key, (pair, asker) in asked.items():
                    paid[key] = pair, calls.enter_context(self._paid(pair, payers[asker]))
            except BudgetExceededError as error:
                problems.add(f"over budget: {error}")
            answers = list(
                pool.map(
                    lambda each: self._ask(each[0], each[1], stopped, deadline, problems),
                    paid.values(),
                )
            )
        judged = {
            key: answer for key, answer in zip(paid, answers, strict=True) if answer is not None
        }
        self._cache.keep(judged)
        if len(judged) < len(asked):
            told = "; ".join(sorted(problems)) or "too unsure"
            return self._left(len(asked) - len(judged), len(asked), told)
        return ""

    def _left(self, left: int, asked: int, problem: str) -> str:
        logger.warning("%s judges %d of %d pairs: %s", self._fallback.name, left, asked, problem)
        return (
            f"{self._fallback.name} judged {left} of {asked} pairs where the model did not"
            f" ({problem})."
        )

    def _paid(self, pair: _Pair, payer: Payer | None) -> AbstractContextManager[PaidCall]:
        prompt = judge_prompt(existing=pair[0], new=pair[1])
        return paid_call(
            payer=payer,
            tariff=self._tariff,
            model=self._completions.model,
            read=tokens_of(prompt),
            written=_ANSWER_TOKENS,
        )

    def _ask(
        self,
        pair: _Pair,
        call: PaidCall,
        stopped: threading.Event,
        deadline: float,
        problems: set[str],
    ) -> Judgement | None:
        """The model's judgement, None with one more of the problems when it gives none of use."""
        started = self._monotonic()
        if stopped.is_set():
            return None
        if started >= deadline:
            problems.add("out of time")
            return None
        existing, new = pair
        try:
            answer = self._completions.complete(
                schema=ProposedJudgement,
                messages=judge_prompt(existing=existing, new=new),
                on_usage=call.count,
                fault=_without_verdict,
            )
        except CompletionError as error:
            level = logging.ERROR if error.kind is FailureKind.MISCONFIGURED else logging.WARNING
            logger.log(level, "%s gives no judgement (%s): %s", self.name, error.kind, error)
            problems.add(f"{error.kind}: {error}")
            if error.kind in {FailureKind.UNAVAILABLE, FailureKind.MISCONFIGURED}:
                # The other pairs of this write would fail the same way.
                stopped.set()
            self._rest.note(error, started=started)
            return None
        call.is_answered = True
        judgement = _judgement(answer)
        return judgement and held_to_quotes(
            judgement,
            existing=existing.content,
            new=new.content,
            quoted=Quoted(answer.older_value, answer.newer_value, answer.change),
            is_change_told=self._tells_change(new.content),
        )


def _payers(askers: Iterable[Asker | None]) -> dict[Asker | None, Payer | None]:
    """Who pays for each asker; nobody for none."""
    found: dict[Asker | None, Payer | None] = {None: None}
    for asker in filter(None, set(askers)):
        found[asker] = payer_of(
            team_id=asker.team_id, agent_id=asker.agent_id, end_user_id=asker.end_user_id
        )
    return found


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

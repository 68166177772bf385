"""The judge that asks a language model, and its fallback to the rules."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from decimal import Decimal

from memory.clients.judge_answers import Group, Pair, ask_about
from memory.clients.judgement_cache import JudgementCache, pair_key
from memory.domain.ports import Judge, Preparation
from memory.domain.types import Asker, Judgement, Statement
from routing.clients.endpoints import EndpointRest
from routing.clients.protocol import CompletionError, FailureKind
from routing.clients.structured_calls import StructuredCompletions
from routing.services.cost_guard import BudgetExceededError
from routing.services.paid_calls import PaidCall, Payer, Tariff, paid_call, payer_of, tokens_of

logger = logging.getLogger(__name__)

_THREADS = 4
# Seed 002: 5 to 10 pairs a prompt, and no more than a small model reads with attention.
_GROUP = 8
_GROUP_CHARS = 16_000
# About what the answer on a pair takes.
_ANSWER_TOKENS = 300
_AWAY = frozenset({FailureKind.UNAVAILABLE, FailureKind.MISCONFIGURED})


@dataclass(slots=True)
class _Asking:
    """How far one call of `prepare` got: keys of pairs, what was said of them, and its cost."""

    asked: frozenset[str] = frozenset()
    answered: set[str] = field(default_factory=set)
    judged: dict[str, Judgement] = field(default_factory=dict)
    problems: set[str] = field(default_factory=set)
    over_budget: set[Asker | None] = field(default_factory=set)
    cost_usd: Decimal = Decimal(0)
    deadline: float = 0.0
    stopped: threading.Event = field(default_factory=threading.Event)


class ModelJudge:
    """A `GroupingJudge` through `completions`; thread-safe.

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
        asking = self._asked(pairs, askers, size=1)
        left, asked = len(asking.asked) - len(asking.judged), len(asking.asked)
        if not left:
            return ""
        problem = "; ".join(sorted(asking.problems)) or "too unsure"
        logger.warning("%s judges %d of %d pairs: %s", self._fallback.name, left, asked, problem)
        return (
            f"{self._fallback.name} judged {left} of {asked} pairs where the model did not"
            f" ({problem})."
        )

    def prepare_groups(
        self,
        pairs: Sequence[tuple[Statement, Statement]],
        *,
        askers: Sequence[Asker] = (),
        most_usd: Decimal,
    ) -> Preparation:
        """Ask the model about pairs that are not known, up to eight of one asker in a prompt.

        A statement can reach the verdicts of its group alone. Never call it inside a transaction.
        """
        asking = self._asked(pairs, askers, size=_GROUP, most_usd=most_usd)
        left = asking.asked - asking.answered
        waiting = frozenset(
            place
            for place, (existing, new) in enumerate(pairs)
            if pair_key(existing=existing, new=new) in left
        )
        problem = ""
        if left:
            told = "; ".join(sorted(asking.problems))
            problem = f"{len(left)} of {len(asking.asked)} pairs wait ({told})."
            logger.warning("%s: %s", self.name, problem)
        return Preparation(waiting, problem, asking.cost_usd)

    def _asked(
        self,
        pairs: Sequence[Pair],
        askers: Sequence[Asker] = (),
        *,
        size: int,
        most_usd: Decimal | None = None,
    ) -> _Asking:
        payable: Sequence[Asker | None] = askers or [None] * len(pairs)
        wanted = {
            pair_key(existing=existing, new=new): ((existing, new), asker)
            for (existing, new), asker in zip(pairs, payable, strict=True)
            # The same words need no model, and the fallback knows them for a duplicate.
            if existing.content != new.content
        }
        known = self._cache.load(list(wanted))
        fresh = {key: each for key, each in wanted.items() if key not in known}
        asking = _Asking(frozenset(fresh))
        now = self._rest.begin()
        if not fresh:
            return asking
        if now is None:
            asking.problems.add("no answer a moment ago")
            return asking
        asking.deadline = now + self._budget_seconds
        payers = _payers(asker for _, asker in fresh.values())
        groups = _groups(fresh, size)
        with ThreadPoolExecutor(min(_THREADS, len(groups))) as pool:
            while groups and not asking.stopped.is_set():
                together = groups
                if most_usd is not None:
                    together = self._affordable(groups, most_usd - asking.cost_usd)
                if not together:
                    asking.problems.add("the most that it may cost is spent")
                    break
                groups = groups[len(together) :]
                self._ask_together(together, payers, asking, pool)
        self._cache.keep(asking.judged)
        return asking

    def _affordable(self, groups: Sequence[Group], left_usd: Decimal) -> list[Group]:
        """The next ones to ask about at once, each begun while there is likely something left."""
        likely, together = Decimal(0), []
        for group in groups[:_THREADS]:
            cost = self._tariff and self._tariff.cost(
                read=tokens_of(group.prompt()), written=_ANSWER_TOKENS * len(group.pairs)
            )
            if cost and likely >= left_usd:
                break
            likely += cost or 0
            together.append(group)
        return together

    def _ask_together(
        self,
        groups: Sequence[Group],
        payers: dict[Asker | None, Payer | None],
        asking: _Asking,
        pool: ThreadPoolExecutor,
    ) -> None:
        paid: list[tuple[Group, PaidCall]] = []
        # Money is held and counted by this thread alone: the others have no connections.
        with ExitStack() as calls:
            for group in groups:
                if group.asker in asking.over_budget:
                    continue
                try:
                    call = calls.enter_context(self._paid(group, payers[group.asker]))
                except BudgetExceededError as error:
                    asking.over_budget.add(group.asker)
                    asking.problems.add(f"over budget: {error}")
                else:
                    paid.append((group, call))
            # So that log lines and spans of the threads name the same request.
            contexts = [copy_context() for _ in paid]
            answers = list(
                pool.map(
                    lambda each, context: context.run(self._ask, each[0], each[1], asking),
                    paid,
                    contexts,
                )
            )
        for (group, call), answer in zip(paid, answers, strict=True):
            asking.cost_usd += call.cost_usd
            if answer is not None:
                asking.answered.update(group.pairs)
                asking.judged |= answer

    def _paid(self, group: Group, payer: Payer | None) -> AbstractContextManager[PaidCall]:
        return paid_call(
            payer=payer,
            tariff=self._tariff,
            model=self._completions.model,
            read=tokens_of(group.prompt()),
            written=_ANSWER_TOKENS * len(group.pairs),
        )

    def _ask(self, group: Group, call: PaidCall, asking: _Asking) -> dict[str, Judgement] | None:
        """What the model says that is of use; None where it was not asked or nobody answers."""
        started = self._monotonic()
        if asking.stopped.is_set():
            return None
        if started >= asking.deadline:
            asking.problems.add("out of time")
            return None
        try:
            answer = ask_about(
                group=group,
                completions=self._completions,
                on_usage=call.count,
                tells_change=self._tells_change,
            )
        except CompletionError as error:
            level = logging.ERROR if error.kind is FailureKind.MISCONFIGURED else logging.WARNING
            logger.log(level, "%s gives no judgement (%s): %s", self.name, error.kind, error)
            asking.problems.add(f"{error.kind}: {error}")
            self._rest.note(error, started=started)
            if error.kind not in _AWAY:
                return {}
            # The other pairs would fail the same way.
            asking.stopped.set()
            return None
        call.is_answered = True
        return answer


def _groups(wanted: Mapping[str, tuple[Pair, Asker | None]], size: int) -> list[Group]:
    """Groups of at most `size` pairs of one asker, in the order in which they came."""
    found: dict[Asker | None, list[dict[str, Pair]]] = defaultdict(list)
    room: dict[Asker | None, int] = defaultdict(int)
    for key, (pair, asker) in wanted.items():
        chars = sum(len(each.content) for each in pair)
        groups = found[asker]
        if not groups or len(groups[-1]) >= size or chars > room[asker]:
            groups.append({})
            room[asker] = _GROUP_CHARS
        groups[-1][key] = pair
        room[asker] -= chars
    return [Group(pairs, asker) for asker, groups in found.items() for pairs in groups]


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

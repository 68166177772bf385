"""What a model's answers on pairs of statements are worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memory.clients.judge_prompts import (
    VERDICTS,
    ProposedJudgement,
    ProposedJudgements,
    group_prompt,
    judge_prompt,
)
from memory.domain.quotes import Quoted, held_to_quotes
from memory.domain.types import Asker, Judgement, Statement, Verdict
from routing.clients.protocol import ChatMessage
from routing.clients.structured_calls import StructuredCompletions

Pair = tuple[Statement, Statement]

# These verdicts drop or retire a fact, so a model must hold them for likely.
_TAKES_AWAY = frozenset({Verdict.DUPLICATE, Verdict.SUPERSEDE})
_LIKELY = 0.5
_MAX_REASON = 300


@dataclass(frozen=True, slots=True)
class Group:
    """Pairs that one prompt asks about, by the keys that they are kept under, and who pays."""

    pairs: Mapping[str, Pair]
    asker: Asker | None

    def prompt(self) -> list[ChatMessage]:
        """One pair alone is asked about without a number."""
        pairs = list(self.pairs.values())
        if len(pairs) > 1:
            return group_prompt(pairs=pairs)
        return judge_prompt(existing=pairs[0][0], new=pairs[0][1])


def ask_about(
    *,
    group: Group,
    completions: StructuredCompletions,
    on_usage: Callable[[int, int], None],
    tells_change: Callable[[str], bool],
) -> dict[str, Judgement]:
    """What the model says of the pairs, as far as it can be used. Raises CompletionError."""
    if len(group.pairs) == 1:
        (key,) = group.pairs
        answer = completions.complete(
            schema=ProposedJudgement,
            messages=group.prompt(),
            on_usage=on_usage,
            fault=_without_verdict,
        )
        answers: Mapping[str, ProposedJudgement] = {key: answer}
    else:
        together = completions.complete(
            schema=ProposedJudgements,
            messages=group.prompt(),
            on_usage=on_usage,
            fault=lambda each: "" if _numbered(each, group) else _NO_NUMBERS,
        )
        answers = _numbered(together, group)
    found = {}
    for key, answer in answers.items():
        judgement = _held(answer, group.pairs[key], tells_change)
        if judgement is not None:
            found[key] = judgement
    return found


_NO_NUMBERS = "`judgements` must hold one for each pair, with its `number`, and a verdict each."


def _numbered(answer: ProposedJudgements, group: Group) -> dict[str, ProposedJudgement]:
    """The answers with a verdict, by their pairs; two with one number count for none."""
    keys = dict(enumerate(group.pairs, 1))
    counts = Counter(each.number for each in answer.judgements)
    return {
        keys[each.number]: each
        for each in answer.judgements
        if each.number in keys and counts[each.number] == 1 and not _without_verdict(each)
    }


def _without_verdict(answer: ProposedJudgement) -> str:
    """What to tell a model whose verdict is none; "" for one that is."""
    if _verdict(answer) in VERDICTS:
        return ""
    return f"`verdict` must be one of {', '.join(VERDICTS)}."


def _verdict(answer: ProposedJudgement) -> str:
    return answer.verdict.strip().lower()


def _held(
    answer: ProposedJudgement, pair: Pair, tells_change: Callable[[str], bool]
) -> Judgement | None:
    """The judgement as far as its quotes bear it out; None for one that the model doubts."""
    verdict = Verdict(_verdict(answer))
    if verdict in _TAKES_AWAY and answer.confidence < _LIKELY:
        return None
    printable = "".join(char if char.isprintable() else " " for char in answer.reason)
    reason = " ".join(printable.split())[:_MAX_REASON]
    existing, new = pair
    return held_to_quotes(
        Judgement(verdict, reason, max(0.0, min(1.0, answer.confidence))),
        existing=existing.content,
        new=new.content,
        quoted=Quoted(answer.older_value, answer.newer_value, answer.change),
        is_change_told=tells_change(new.content),
    )

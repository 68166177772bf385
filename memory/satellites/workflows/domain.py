"""Workflows in what agents did: sequences of tool calls that recur (seed 002, "Workflows").

It reads no language. A step is a tool by its name, its arguments and the plain words that one of
them begins with ("docker build"); where these differ each time, the name and arguments alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any
from uuid import UUID

from memory.domain.forms import Payload
from memory.satellites.chat.wording import called_in

LEAST_STEPS = 3
MOST_STEPS = 20
_MOST_CANDIDATES = 200
_WORDS_OF_STEP = 3
_WORDS_OF_TRIGGER = 4
_MOST_VALUE_CHARS = 200
_TOOL = re.compile(r"[\w.:/-]{1,60}")
_LEADING_WORDS = re.compile(rf"(?:[A-Za-z][A-Za-z_.-]{{0,29}}(?:\s|$)){{1,{_WORDS_OF_STEP}}}")
_WORD = re.compile(r"[^\W\d_]{4,30}")


@dataclass(frozen=True, slots=True)
class Said:
    """A message as far as calls are read from it; `conversation` is whose it is."""

    id: UUID
    conversation: UUID
    role: str
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call in a message, and its request; calls of one `stretch` have no request between them."""

    tool: str
    arguments: Mapping[str, Any]  # Any: JSON
    message: Said
    stretch: int
    request: str

    @property
    def words(self) -> str:
        """The plain words with which the first of its arguments that has any begins."""
        for _, value in sorted(self.arguments.items()):
            if isinstance(value, str) and (found := _LEADING_WORDS.match(value.strip())):
                return " ".join(found[0].split())
        return ""

    def step(self, *, has_words: bool) -> tuple[str, tuple[str, ...]]:
        """Returns the common identity of calls of one step: its name, and its arguments' names."""
        name = f"{self.tool} {self.words}".strip() if has_words else self.tool
        return name, tuple(sorted(self.arguments))


@dataclass(frozen=True, slots=True)
class Workflow:
    """Steps that were taken several times, with the calls of each time."""

    payload: Payload
    times: tuple[tuple[ToolCall, ...], ...]


def tool_calls(messages: Sequence[Said]) -> list[ToolCall]:
    """Returns the calls in messages, which stand by conversation; results of calls count once."""
    found: list[ToolCall] = []
    open_calls: deque[str] = deque()
    stretch, request, conversation = 0, "", None
    for message in messages:
        if message.conversation != conversation or message.role == "user":
            stretch += 1
            request = message.text if message.role == "user" else ""
            conversation = message.conversation
            open_calls.clear()
        called: Sequence[tuple[str, Mapping[str, Any]]] = ()
        if message.role == "assistant":
            called = called_in(message.text)
            open_calls.extend(name for name, _ in called)
        elif message.role == "tool" and message.name in open_calls:
            open_calls.remove(message.name)
        elif message.role == "tool":
            called = [(message.name, {})]
        found += [
            ToolCall(name, arguments, message, stretch, request)
            for name, arguments in called
            if _TOOL.fullmatch(name)
        ]
    return found


def recurring_workflows(calls: Sequence[ToolCall]) -> list[Workflow]:
    """The longest sequences of at least three different steps that were taken at least twice.

    The times lie in different conversations or have a request between them, and none shares a call
    with another. Where the words of the arguments recur, they are part of the steps.
    """
    found: list[Workflow] = []
    covered: set[int] = set()
    for has_words in (True, False):
        steps = [call.step(has_words=has_words) for call in calls]
        for starts, length in _repeated(calls, steps, covered):
            times = tuple(tuple(calls[at : at + length]) for at in starts)
            names = [steps[at][0] for at in range(starts[0], starts[0] + length)]
            found.append(Workflow(_payload(names, times), times))
    return found


def holds_sequence(steps: Sequence[str], part: Sequence[str]) -> bool:
    """Returns whether `part` is a consecutive part of `steps`, or all of them."""
    most = len(steps) - len(part)
    return any(list(steps[at : at + len(part)]) == list(part) for at in range(most + 1))


def _repeated(
    calls: Sequence[ToolCall], steps: Sequence[Hashable], covered: set[int]
) -> list[tuple[list[int], int]]:
    """Returns starts and lengths of repeated runs of steps; adds to what is covered.

    In the sorted list of all suffixes, repeated runs stand beside each other: n log n.
    """
    keys = _suffixes(calls, steps, covered)
    ordered = sorted(range(len(keys)), key=keys.__getitem__)
    runs: dict[tuple[int, ...], bool] = {}
    for one, other in pairwise(ordered):
        common = _common(keys[one], keys[other])
        run = _once(common)
        if len(set(run)) >= LEAST_STEPS:
            # A loop is known by its rounds, before a part of two of them is taken for one.
            runs[run] = runs.get(run, False) or run != common
    sorted_keys = [keys[at] for at in ordered]
    found = []
    for run in sorted(runs, key=lambda run: (not runs[run], -len(run), run))[:_MOST_CANDIDATES]:
        first = bisect_left(sorted_keys, run)
        last = bisect_left(sorted_keys, (*run[:-1], run[-1] + 1))
        places = sorted(ordered[first:last])
        starts = _apart(calls, places, len(run), covered)
        if len(starts) > 1:
            found.append((starts, len(run)))
            covered.update(at + offset for at in places for offset in range(len(run)))
    return found


def _suffixes(
    calls: Sequence[ToolCall], steps: Sequence[Hashable], covered: Collection[int]
) -> list[tuple[int, ...]]:
    """For each call the numbers of the steps from it on, up to the end of its conversation."""
    numbers: dict[Hashable, int] = {}
    tokens = [numbers.setdefault(step, len(numbers)) for step in steps]
    keys: list[tuple[int, ...]] = [()] * len(calls)
    end, conversation = len(calls), None
    for at in reversed(range(len(calls))):
        if calls[at].message.conversation != conversation:
            conversation = calls[at].message.conversation
            end = at + 1
        if at in covered:
            end = at
        else:
            keys[at] = tuple(tokens[at : min(end, at + MOST_STEPS)])
    return keys


def _common(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return tuple(mine for mine, _ in pairs)


def _once(run: tuple[int, ...]) -> tuple[int, ...]:
    """A run that comes back to its first steps and goes round again, as one round."""
    for period in range(1, len(run) - LEAST_STEPS + 1):
        if all(run[at] == run[at - period] for at in range(period, len(run))):
            return run[:period]
    return run


def _apart(
    calls: Sequence[ToolCall], places: Sequence[int], length: int, covered: Collection[int]
) -> list[int]:
    """Returns the places whose calls are free and have a request between them."""
    starts: list[int] = []
    for at in places:
        is_free = not any(each in covered for each in range(at, at + length))
        after = calls[starts[-1] + length - 1].stretch if starts else -1
        if is_free and calls[at].stretch > after:
            starts.append(at)
    return starts


def _payload(names: Sequence[str], times: Sequence[Sequence[ToolCall]]) -> Payload:
    details: dict[str, str] = {}
    for at, name in enumerate(names):
        told = _same([time[at].arguments for time in times])
        if told:
            details.setdefault(name, told)
    trigger = _trigger([time[0].request for time in times]) or names[-1]
    return {"trigger": trigger, "steps": list(names), **({"details": details} if details else {})}


def _same(given: Sequence[Mapping[str, Any]]) -> str:  # Any: JSON
    """The arguments of a step: what was the same each time, and "…" for what was not."""
    parts = []
    for key, value in sorted(given[0].items()):
        text = " ".join(str(value).split())
        is_same = all(each.get(key) == value for each in given[1:])
        parts.append(f"{key}: {text if is_same and len(text) <= _MOST_VALUE_CHARS else '…'}")
    return ", ".join(parts)


def _trigger(requests: Sequence[str]) -> str:
    """The longest words that all of the requests share, in the order of the last one."""
    first, *others = ([word.casefold() for word in _WORD.findall(text)] for text in requests)
    shared = set(first).intersection(*others)
    in_order = list(dict.fromkeys(word for word in (others or [first])[-1] if word in shared))
    longest = sorted(in_order, key=lambda word: -len(word))[:_WORDS_OF_TRIGGER]
    return " ".join(word for word in in_order if word in longest)

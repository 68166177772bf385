"""Which messages of a request are kept already, and after which one the others follow.

Clients send a conversation whole with each request, or its end, or the new message alone; they
edit, ask again, drop what is old. A message is the same one where the same words follow on the same
history: its `chain` is a digest of all that was said up to it, so that "yes" after one question is
another message than "yes" after the next, and a request that is sent again finds each of its
messages in its place. A log is one line of rows; chains make it the tree that it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

ROOT = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """A row of the log; `chain` is None for one that came by another way than a chat request.

    `is_open`: an answer that broke off, or that came while the request was under way.
    `is_continuing`: a message that was sent without what was said before.
    """

    position: int
    digest: str
    is_answer: bool
    chain: str | None = None
    is_open: bool = False
    is_continuing: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    digest: str
    is_answer: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message of a request stands: the `position` it is kept at, or None for a new one.

    `chain` is None for what follows on nothing that is kept, such as a summary that the client
    wrote of what it left out.
    """

    chain: str | None
    position: int | None = None
    is_continuing: bool = False


def link(chain: str, digest: str) -> str:
    """The chain of a message after what `chain` stands for."""
    return hashlib.sha256(f"{chain}\n{digest}".encode()).hexdigest()[:24]


def chain_of(digests: Sequence[str], *, after: str = ROOT) -> list[str]:
    found = []
    for digest in digests:
        after = link(after, digest)
        found.append(after)
    return found


def place(*, kept: Sequence[Kept], asked: Sequence[Asked]) -> list[Place]:
    """The place of each message of a request among the rows of its conversation, oldest first."""
    log = _Log(kept)
    places = _known_from(log, asked, ROOT)
    rest = asked[len(places) :]
    has_answers = any(each.is_answer for each in asked)
    if kept and not has_answers and (not places or log.is_continued):
        return _continuing(log, asked)
    if any(each.is_answer for each in rest) and (run := log.run_before(asked)) is not None:
        return _after_run(log, asked, places, run)
    return [*places, *_new(rest, _last_chain(places))]


class _Log:
    def __init__(self, kept: Sequence[Kept]) -> None:
        self.rows = kept
        self.chains: list[str] = []
        before = ROOT
        for row in kept:
            before = link(before, row.digest) if row.chain is None else row.chain
            self.chains.append(before)
        self.at: dict[str, int] = {}
        for index, chain in enumerate(self.chains):
            self.at.setdefault(chain, index)
        self.is_continued = any(row.is_continuing for row in kept)

    def parent(self, index: int) -> int | None:
        """The row that this one follows on; None for a first one."""
        chain, digest = self.chains[index], self.rows[index].digest
        for before in range(index - 1, -1, -1):
            if link(self.chains[before], digest) == chain:
                return before
        return None

    def run_before(self, asked: Sequence[Asked]) -> list[int] | None:
        """The rows that the request's messages up to its last answer repeat, the longest such run.

        One answer alone is no proof, unless it is the last one of the log.
        """
        last = max(place for place, each in enumerate(asked) if each.is_answer)
        answers = [index for index, row in enumerate(self.rows) if row.is_answer]
        best: list[int] = []
        for index in reversed(answers):
            if self.rows[index].digest != asked[last].digest:
                continue
            run = self._back(index, asked[: last + 1])
            is_proof = len(run) > 1 or index == answers[-1]
            if is_proof and len(run) > len(best):
                best = run
        return best or None

    def _back(self, index: int, asked: Sequence[Asked]) -> list[int]:
        run = [index]
        for each in reversed(asked[:-1]):
            before = self.parent(run[0])
            if before is None or self.rows[before].digest != each.digest:
                break
            run.insert(0, before)
        return run


def _known_from(log: _Log, asked: Sequence[Asked], chain: str) -> list[Place]:
    """The places of the first messages, as far as they follow on `chain` in the log."""
    places = []
    for each in asked:
        chain = link(chain, each.digest)
        index = log.at.get(chain)
        if index is None:
            break
        places.append(Place(chain, log.rows[index].position))
    return places


def _new(asked: Sequence[Asked], chain: str, *, is_continuing: bool = False) -> list[Place]:
    chains = chain_of([each.digest for each in asked], after=chain)
    return [Place(each, is_continuing=is_continuing) for each in chains]


def _continuing(log: _Log, asked: Sequence[Asked]) -> list[Place]:
    """New messages alone: they follow on the last row, but for those that wait for an answer."""
    ends = (i for i in range(len(log.rows) - 1, -1, -1) if _is_finished(log.rows[i]))
    waiting = [i for i in range(next(ends, -1) + 1, len(log.rows)) if not log.rows[i].is_answer]
    words = [each.digest for each in asked]
    for count in range(min(len(waiting), len(words)), 0, -1):
        same = waiting[-count:]
        if [log.rows[i].digest for i in same] == words[:count]:
            places = [Place(log.chains[i], log.rows[i].position) for i in same]
            after = log.chains[same[-1]]
            return [*places, *_new(asked[count:], after, is_continuing=True)]
    return _new(asked, log.chains[-1], is_continuing=True)


def _is_finished(row: Kept) -> bool:
    return row.is_answer and not row.is_open


def _after_run(
    log: _Log, asked: Sequence[Asked], places: list[Place], run: list[int]
) -> list[Place]:
    """The messages before a run of known ones, the run itself, and what follows on it."""
    last = max(place for place, each in enumerate(asked) if each.is_answer)
    first = max(last + 1 - len(run), len(places))
    run = run[len(run) - (last + 1 - first) :]
    digests = {row.digest: row.position for row in log.rows[: run[0] if run else 0]}
    found = [
        *places,
        *(Place(None, digests.get(each.digest)) for each in asked[len(places) : first]),
        *(Place(log.chains[index], log.rows[index].position) for index in run),
    ]
    after = asked[last + 1 :]
    known = _known_from(log, after, log.chains[run[-1]])
    left = after[len(known) :]
    return [*found, *known, *_new(left, _last_chain([*found, *known]))]


def _last_chain(places: Sequence[Place]) -> str:
    return next((each.chain for each in reversed(places) if each.chain is not None), ROOT)

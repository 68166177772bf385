"""Places the prompt in the talk, and trims the talk to the window."""

from __future__ import annotations

import hashlib
import itertools
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
    """The place of a message of a request: the `position` it is kept at, or None for a new one.

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
    return [*places, *_new(rest, last_chain(places))]


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
    return [*found, *known, *_new(left, last_chain([*found, *known]))]


def last_chain(places: Sequence[Place]) -> str:
    """The chain that new messages after these places continue."""
    return next((each.chain for each in reversed(places) if each.chain is not None), ROOT)


# Above this share of its window a context is about to overflow, for sizes are estimates. What is
# compacted then leaves so much of the talk's room filled: the rest is for the turns that follow,
# which else would each compact again.
FULL_SHARE = 0.9
KEPT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Piece:
    """A message as far as its size matters; `position` is that of its last row in the log.

    It is None for one without words. `tokens` counts what it takes of the context. Only before an
    `is_start` the context may be cut, so that no answer stands without its question and no result
    of a tool without its call.
    """

    tokens: int
    is_start: bool
    position: int | None


def is_full(*, tokens: int, answer_tokens: int, window: int) -> bool:
    """Returns whether prompt and answer tokens come too near to the end of the window."""
    return tokens + answer_tokens > window * FULL_SHARE


def room_for_talk(*, window: int, other_tokens: int, answer_tokens: int) -> int:
    """Returns how many tokens of the last messages fit beside prompt, tools and answer."""
    return max(0, int((window * FULL_SHARE - other_tokens - answer_tokens) * KEPT_SHARE))


def first_that_stays(pieces: Sequence[Piece], *, room: int) -> int:
    """The index from which on the messages fit in `room`: the last start at most, 0 for all."""
    starts = _starts(pieces)
    for index in starts:
        if sum(piece.tokens for piece in pieces[index:]) <= room:
            return index
    return starts[-1]


def after_position(pieces: Sequence[Piece], *, position: int) -> int:
    """The index of the first start after all that is kept up to `position` of the log.

    A turn that goes beyond it stays whole, and so does the last one.
    """
    starts = _starts(pieces)
    for start, end in itertools.pairwise(starts):
        if any((piece.position or 0) > position for piece in pieces[start:end]):
            return start
    return starts[-1]


def position_before(pieces: Sequence[Piece], index: int) -> int:
    """The last position of the log before a message that stays; 0 where nothing can go."""
    position = pieces[index].position if index else None
    return 0 if position is None else position - 1


def _starts(pieces: Sequence[Piece]) -> list[int]:
    return [index for index, piece in enumerate(pieces) if piece.is_start or not index] or [0]

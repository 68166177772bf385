"""Each message of a chat is kept once, however its client sends its history."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from memory.satellites.chat.placing import ROOT, Asked, Kept, chain_of, link, place

Line = tuple[str, str]

words = st.sampled_from(["yes", "no", "ok", "go on"])


@dataclass
class Log:
    """A log that is written as the service writes it."""

    rows: list[Kept] = field(default_factory=list)
    words: list[Line] = field(default_factory=list)

    def send(self, *lines: Line, answer: str | None = None, partial: bool = False) -> int:
        """Keep what is new of a request, then its answer; returns how many lines were new."""
        asked = [Asked(f"{role}:{text}", role == "a") for role, text in lines]
        places = place(kept=self.rows, asked=asked)
        new = 0
        for line, each, at in zip(lines, asked, places, strict=True):
            if at.position is None:
                new += 1
                self.keep(line, each.digest, at.chain, at.is_continuing)
        if answer is not None:
            chain = next((at.chain for at in reversed(places) if at.chain is not None), ROOT)
            digest = f"a:{answer}"
            (follows,) = chain_of([digest], after=chain)
            if all(row.chain != follows for row in self.rows):
                self.keep(("a", answer), digest, follows, False, partial)
        return new

    def keep(
        self,
        line: Line,
        digest: str,
        chain: str | None,
        is_continuing: bool = False,
        is_open: bool = False,
    ) -> None:
        """Write a row; what follows on nothing is written outside the tree of turns."""
        self.words.append(line)
        if chain is not None:
            self.rows.append(
                Kept(len(self.words), digest, line[0] == "a", chain, is_open, is_continuing)
            )


def talk(texts: list[str]) -> list[Line]:
    """The texts as questions and answers in turn."""
    return [("a" if place % 2 else "u", text) for place, text in enumerate(texts)]


histories = st.lists(words, min_size=2, max_size=12).map(
    lambda texts: talk(texts[: len(texts) & ~1])
)


@given(histories, st.data())
def test_a_client_that_sends_everything_each_time_is_kept_once(
    history: list[Line], data: st.DataObject
) -> None:
    log = Log()
    for end in range(1, len(history), 2):
        log.send(*history[:end], answer=history[end][1])
        again = data.draw(st.integers(0, end // 2)) * 2 + 1
        assert log.send(*history[:again]) == 0

    assert log.words == history


@given(histories)
def test_a_whole_history_is_kept_at_once_or_as_it_grows(history: list[Line]) -> None:
    log = Log()

    assert log.send(*history) == len(history)
    assert log.send(*history, ("u", "new")) == 1
    assert log.words == [*history, ("u", "new")]


@given(st.lists(st.tuples(st.integers(0, 30), words, words), min_size=1, max_size=12))
def test_edits_and_other_answers_are_kept_and_nothing_twice(
    steps: list[tuple[int, str, str]],
) -> None:
    first: tuple[Line, ...] = (("u", "hi"), ("a", "hello"))
    log, paths = Log(), [first]
    log.send(*first[:1], answer="hello")
    distinct = {first[:1], first}
    for choice, question, answer in steps:
        # Go on from any point of any branch, with a question and an answer that may be known. What
        # comes without any history is a new message of the thread instead.
        path = paths[choice % len(paths)]
        asked = (*path, ("u", question))
        log.send(*asked, answer=answer)
        paths.append((*asked, ("a", answer)))
        distinct |= {asked, paths[-1]}

    assert len(log.words) == len(distinct)


@given(histories.filter(lambda each: len(each) >= 4), st.data())
def test_a_client_that_sends_the_end_alone_adds_what_is_new(
    history: list[Line], data: st.DataObject
) -> None:
    log = Log()
    log.send(*history)
    start = data.draw(st.integers(1, len(history) - 2))

    assert log.send(*history[start:], ("u", "new"), answer="fine") == 1
    assert log.send(*history[start:], ("u", "new")) == 0
    assert log.words == [*history, ("u", "new"), ("a", "fine")]


@given(st.lists(words, max_size=8))
def test_who_sends_new_messages_alone_may_say_the_same_again(texts: list[str]) -> None:
    log = Log()
    for text in ["hello", *texts]:
        assert log.send(("u", text), answer="ok") == 1
        assert log.send(("u", "and"), ("u", "so"), answer="ok") == 2

    assert len(log.words) == 5 * (len(texts) + 1)


@given(histories)
def test_messages_that_came_by_another_way_count(history: list[Line]) -> None:
    rows = [
        Kept(number, f"{role}:{text}", role == "a")
        for number, (role, text) in enumerate(history, start=1)
    ]
    log = Log(rows=rows, words=list(history))

    assert log.send(*history, ("u", "new")) == 1


def test_a_first_message_sent_again_is_that_message() -> None:
    log = Log()
    log.send(("u", "hi"), answer="hello")

    assert log.send(("u", "hi"), answer="hello") == 0


def test_what_waits_for_its_answer_is_not_kept_twice() -> None:
    log = Log()
    log.send(("u", "hi"), answer="hello")
    log.send(("u", "more"))

    assert log.send(("u", "more")) == 0
    assert log.send(("u", "more"), ("u", "please")) == 1
    log.send(("u", "please"), answer="half", partial=True)
    assert log.send(("u", "please")) == 0


def test_dropped_turns_in_the_middle_are_known() -> None:
    log = Log()
    history = talk(["a", "b", "c", "d", "e", "f"])
    log.send(*history)

    assert log.send(history[0], *history[4:], ("u", "new")) == 1


def test_a_clients_own_summary_is_kept_outside_the_turns() -> None:
    log = Log()
    history = talk(["a", "b", "c", "d"])
    log.send(*history)

    assert log.send(("u", "So far: a, b."), *history[2:], ("u", "new")) == 2
    assert [row.chain for row in log.rows][-1] == link(log.rows[3].chain or "", "u:new")

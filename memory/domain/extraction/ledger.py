"""The drafts of one conversation so far, and the ways in which later words add to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from uuid import UUID

from ..types import MemoryType
from .days.anchors import anchored, last_day, of_known_day
from .days.moments import FoundDate, Precision
from .drafts import MAX_CHARS, Draft, lowered, merged_sources
from .kinds.pins import pinned_label
from .language.words import content_words

_LEANING = re.compile(
    r"^(?:that|this|that['’]s|which|it['’]s\sa\s(?:hard|strict|firm))\b(?:['’]s)?", re.IGNORECASE
)
_ADDS = re.compile(
    r"^(?:that['’]s|that\sis|this\sis|which\sis|it['’]s)\s(?:a|an|the|our|non|"
    r"not\s(?:negotiable|optional))\b|^(?:that|this)\s(?:has|have|worked|works|got|made|gave|kept|brought|"
    r"fixed|solved|helped|saved|saves|holds|"
    r"applies|includes|means|goes|always|never|took|takes|cost|costs|replaces|only)\b",
    re.IGNORECASE,
)
_OUTCOME_TURNS = 4
_PROBLEM_TURNS = 8


class Ledger:
    """An ordered list of drafts that knows which of them a later sentence speaks of."""

    def __init__(self) -> None:
        self._drafts: list[Draft] = []
        self._heard: tuple[int, date] | None = None
        self._parted: list[tuple[list[Draft], list[Draft]]] = []

    def all(self) -> list[Draft]:
        """The drafts in order."""
        return list(self._drafts)

    def set_back(self, *, drafts: Sequence[Draft]) -> None:
        """Forget what was added since these were all."""
        self._drafts = list(drafts)

    def part(self, *, before: Sequence[Draft], whole: Sequence[Draft], count: int) -> None:
        """Keep what was added to `before` where it is `count` facts, else go back to `whole`."""
        if len(self._drafts) - len(before) != count or self._drafts[: len(before)] != list(before):
            self.set_back(drafts=whole)
        else:
            self._parted.append((list(whole[len(before) :]), self._drafts[len(before) :]))

    def join_where_crowded(self, *, room: int) -> None:
        """Take parted sentences whole again in turns that hold more than `room` drafts."""
        for whole, parts in self._parted:
            turn = parts[0].turn
            if sum(draft.turn == turn for draft in self._drafts) <= room or not whole:
                continue
            at = next((i for i, draft in enumerate(self._drafts) if draft == parts[0]), -1)
            if at >= 0 and self._drafts[at : at + len(parts)] == parts:
                self._drafts[at : at + len(parts)] = whole

    def add(self, draft: Draft) -> None:
        """Append a draft, or work it into the incident that it details."""
        if not self._detail(draft):
            self._drafts.append(draft)

    def insert_by_turn(self, draft: Draft) -> None:
        """Put a draft where its turn belongs."""
        later = (i for i, other in enumerate(self._drafts) if other.turn > draft.turn)
        self._drafts.insert(next(later, len(self._drafts)), draft)

    def pin_last(self, *, turn: int) -> bool:
        """Pin the last draft of this turn; False where there is none."""
        if not self._drafts or self._drafts[-1].turn != turn:
            return False
        last = self._drafts[-1]
        self._drafts[-1] = replace(last, label=pinned_label(last.label))
        return True

    def lean(self, *, said: str, told: str, turn: int) -> bool:
        """Attach "That has worked three times" to what it speaks of; True when dealt with.

        `said` is the sentence as spoken, `told` in the third person.
        """
        if not _LEANING.match(said):
            return False
        last = self._drafts[-1] if self._drafts else None
        fits = last is not None and len(last.text) + len(told) < MAX_CHARS - 30
        if last and last.turn == turn and fits and _ADDS.match(said):
            self._extend(len(self._drafts) - 1, told[:1].lower() + told[1:], ())
            return True
        return len(content_words(said)) < 4

    def remind(self, *, name: str, when: str, turn: int, sources: Sequence[UUID]) -> bool:
        """Add a reminder to the last dated draft of the two turns before.

        What its own message tells comes first, dated or not ("the rent goes out on the 1st").
        """
        near = [i for i, draft in enumerate(self._drafts) if draft.dates and turn - draft.turn <= 2]
        here = [i for i, draft in enumerate(self._drafts) if draft.turn == turn]
        if near and here and near[-1] < here[0]:
            near = here
        if not near:
            return False
        return self._extend(near[-1], f"{name} wants a reminder {when}", sources)

    def detail(
        self,
        *,
        text: str,
        turn: int,
        sources: Sequence[UUID],
        reach: int = 2,
        naming: str = "",
    ) -> bool:
        """Add a fragment, as the answer to a bare "When?", to what was told just before.

        Of several drafts of one turn, to that which holds the word `naming`, where one does.
        """
        if not self._drafts or turn - self._drafts[-1].turn > reach:
            return False
        index = len(self._drafts) - 1
        last = self._drafts[index].turn
        named = [
            i
            for i, draft in enumerate(self._drafts)
            if naming and draft.turn == last and naming in draft.text.lower()
        ]
        if named:
            return self._extend(named[-1], lowered(text), sources)
        wishes = [
            i
            for i, draft in enumerate(self._drafts)
            if draft.turn == turn and draft.label.category == "preferences"
        ]
        if not reach and wishes:
            # "Text only." goes with the wish, not with the reason that was given for it.
            index = wishes[-1]
        return self._extend(index, lowered(text), sources)

    def follow(self, *, draft: Draft, of_any_type: bool = True) -> bool:
        """Add a sentence that cannot stand alone to the one just before it in its message.

        Without `of_any_type` only where both are of one type: an event is no part of a fact.
        """
        last = self._drafts[-1] if self._drafts else None
        if last is None or last.turn != draft.turn or last.label.pinned:
            return False
        if not of_any_type and last.label.memory_type is not draft.label.memory_type:
            return False
        told = lowered(draft.text, owner=draft.owner)
        if not self._extend(len(self._drafts) - 1, told, draft.sources):
            return False
        joined = self._drafts[-1]
        self._drafts[-1] = replace(joined, dates=(*joined.dates, *draft.dates))
        return True

    def problem(self, *, turn: int) -> Draft | None:
        """The last incident told within eight turns."""
        recent = [
            draft
            for draft in self._drafts
            if draft.label.category == "failure" and turn - draft.turn <= _PROBLEM_TURNS
        ]
        return recent[-1] if recent else None

    def explain(self, *, cause: str, turn: int, sources: Sequence[UUID]) -> None:
        """Add what a tool run found to the incident that it looked into."""
        problem = self.problem(turn=turn)
        if problem is not None:
            self._extend(self._drafts.index(problem), lowered(cause), sources)

    def heard(self, *, dates: Sequence[FoundDate], turn: int) -> None:
        """Note the dates of a sentence that becomes no draft, for "that day" and the like."""
        day = last_day(dates)
        if day is not None:
            self._heard = (turn, day)

    def anchored(self, *, text: str, turn: int, own: Sequence[FoundDate]) -> str:
        """The text with "by then" and "that day" as the date that was named last.

        `own` are the dates that the text itself names.
        """
        day = last_day(self._dates())
        if self._heard and self._heard[0] == turn - 1:
            day = self._heard[1]
        return anchored(text=text, day=last_day(own) or day)

    def of_known_day(self, *, text: str, today: date) -> str:
        """The text with "the 18th" as the 18th that was told of before, where it lies ahead."""
        exact = [each.day for each in self._dates() if each.precision is Precision.CALENDAR]
        return of_known_day(text=text, days=exact, today=today)

    def _dates(self) -> list[FoundDate]:
        return [found for draft in self._drafts for found in draft.dates]

    def outcome(self, *, told: str, turn: int, sources: Sequence[UUID]) -> bool:
        """Add "it turned up" to the event of the last turns that it ends."""
        for index in range(len(self._drafts) - 1, -1, -1):
            draft = self._drafts[index]
            if turn - draft.turn > _OUTCOME_TURNS:
                return False
            if draft.label.memory_type is MemoryType.EPISODIC:
                return self._extend(index, told[:1].lower() + told[1:], sources)
        return False

    def _extend(self, index: int, addition: str, sources: Sequence[UUID]) -> bool:
        draft = self._drafts[index]
        text = f"{draft.text.rstrip('. ')}; {addition.rstrip('. ')}."
        if len(text) > MAX_CHARS - 20:
            return False
        joined = merged_sources(draft.sources, sources)
        self._drafts[index] = replace(draft, text=text, sources=joined)
        return True

    def _detail(self, draft: Draft) -> bool:
        """Short details about an incident that was just told belong to the same memory."""
        last = self._drafts[-1] if self._drafts else None
        if last is None or {last.label.category, draft.label.category} != {"failure"}:
            return False
        if draft.turn - last.turn > 4 or draft.dates or len(draft.text) > 70:
            return False
        if not draft.text.startswith("The ") or draft.label.pinned != last.label.pinned:
            return False
        return self._extend(len(self._drafts) - 1, lowered(draft.text), draft.sources)

"""The page on which contradictions are settled one after the other, by a key or a click each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit.models import MemoryLog
from memory.domain.judgements import A_WINS, B_WINS, BOTH_VALID, MERGED, told_decision
from memory.domain.types import MemoryType, Strategy
from memory.models import Contradiction, Memory, MemoryUsage, Settlement
from memory.writing.decisions.changes import snooze_contradiction
from memory.writing.decisions.undoing import ChangedSinceError, undo_settlement
from memory.writing.secrets import masked_note, safe_statement
from teams.admin.confirm import MAX_REASON
from teams.admin.conversations import Quote, passages_of
from teams.admin.display import actor_words, excerpt, page_of_row, with_names
from teams.admin.theme import TextWidget
from teams.errors import DomainError, InvalidError
from teams.middleware import outside_staff_scope

from .memory_changes import TextAreaWidget, viewer_of
from .memory_list import status_words
from .settlements import decision_words, marked, name_of, open_beside, settle

_RESOLUTIONS = {"a": A_WINS, "b": B_WINS, "both": BOTH_VALID, "merge": MERGED}
SNOOZES = {"day": timedelta(days=1), "week": timedelta(weeks=1)}
UNDO_FORM = "undo-form"
_MOST_SOURCES = 3
_FOUND = {
    Strategy.SAME_SUBJECT: "Both are about the same subject",
    Strategy.SEMANTIC_OPPOSITION: "They say opposite things",
    Strategy.TEMPORAL_OVERRIDE: "The later one may replace the earlier one",
}


class ReviewForm(forms.Form):
    """A reviewer's choice, a note, and the text of a merge."""

    choice = forms.ChoiceField(choices=[(each, each) for each in (*_RESOLUTIONS, *SNOOZES)])
    note = forms.CharField(required=False, max_length=MAX_REASON, widget=TextWidget)
    content = forms.CharField(
        required=False,
        max_length=settings.MAX_CONTENT_CHARS,
        widget=TextAreaWidget(attrs={"rows": 4}),
    )

    def clean_content(self) -> str:
        """Returns the text with "\\n" as line ends, as a browser's form has others."""
        return "\n".join(self.cleaned_data["content"].splitlines())

    def clean_note(self) -> str:
        return masked_note(self.cleaned_data["note"])

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuses a merge without words; a text typed for another choice is dropped."""
        values = super().clean() or self.cleaned_data
        if values.get("choice") == "merge" and "content" in values:
            if not values["content"].strip():
                self.add_error("content", "Enter the new text.")
                return values
            try:
                safe_statement(text=values["content"], text_field="content")
            except InvalidError as error:
                self.add_error("content", error.message)
        return values


@dataclass(frozen=True, slots=True)
class Queue:
    """The open contradictions of the list that the reviewer came from, in its order."""

    ids: list[UUID]

    def after(self, pk: UUID) -> list[UUID]:
        """Returns the others, beginning with the next one, and from the top again at the end."""
        place = self.place_of(pk)
        return [*self.ids[place:], *self.ids[: place - 1]] if place else self.ids

    def place_of(self, pk: UUID) -> int:
        """Returns its number in the queue, from 1; 0 where it is not in it."""
        return self.ids.index(pk) + 1 if pk in self.ids else 0

    def next_open(self, pk: UUID) -> UUID | None:
        """Returns the next one that is open at this moment."""
        following = self.after(pk)
        rows = Contradiction.objects.filter(pk__in=following, resolved_at=None)
        still = set(rows.values_list("pk", flat=True))
        return next((each for each in following if each in still), None)


@dataclass(frozen=True, slots=True)
class Side:
    """One memory of a contradiction as the reviewer sees it.

    `letter` is "a" or "b", and empty for the text that replaced both; `talks` are its source
    messages with their neighbours; `more` counts sources that are not shown.
    """

    letter: str
    title: str
    memory: Memory
    text: SafeString | str
    talks: Sequence[Sequence[Quote]]
    usage: MemoryUsage

    @property
    def more(self) -> int:
        return max(len(self.memory.source_message_ids) - _MOST_SOURCES, 0)

    @property
    def stated_by(self) -> str:
        return actor_words(self.memory.actor)

    @property
    def status_words(self) -> str:
        return status_words(self.memory.status)

    @property
    def audience(self) -> str:
        """Who is told of it, in words."""
        memory, who = self.memory, "all agents"
        if memory.agent:
            is_private = memory.memory_type in (MemoryType.AGENT_PRIVATE, MemoryType.IDENTITY)
            is_alone = is_private or not memory.end_user
            who = f"{memory.agent} only" if is_alone else f"{memory.agent}"
        whom = f", in conversations with {memory.end_user}" if memory.end_user else ""
        where = f", in the project {memory.project}" if memory.project else ""
        return f"{who}{whom}{where}"


@dataclass(frozen=True, slots=True)
class PastDecision:
    """A settlement in words, with its note."""

    settlement: Settlement
    words: str
    note: str

    @property
    def decided_by(self) -> str:
        return actor_words(self.settlement.actor)

    @property
    def undone_by(self) -> str:
        return actor_words(self.settlement.undone_by)


def review_context(
    *, pair: Contradiction, queue: Queue, form: ReviewForm, start: str
) -> dict[str, Any]:  # Any: a template's context
    """Returns the page's part about the contradiction; `start` names the text a merge begins with.

    `start` is "a", "b" or "both".
    """
    sides = _sides(pair)
    texts = {side.letter: side.memory.content for side in sides if side.letter}
    texts["both"] = "\n".join(texts.values())
    if not form.is_bound:
        form.initial["content"] = texts.get(start, texts["both"])
    history = _past_decisions(pair)
    return {
        "pair": pair,
        "sides": sides,
        "uses": sum(side.usage.retrieved for side in sides if side.letter),
        "reason": _reason(pair),
        "settled": _settled(pair),
        "is_snoozed": pair.snoozed_until is not None and pair.snoozed_until > timezone.now(),
        "history": history,
        "can_undo": any(each.settlement.undone_at is None for each in history),
        "beside": [(name_of(each), page_of_row(each)) for each in open_beside(pair)],
        "form": form,
        "starts": [(name, texts[name]) for name in ("a", "b", "both") if name in texts],
        "place": queue.place_of(pair.pk),
        "waiting": len(queue.ids),
        "undo_form": UNDO_FORM,
    }


def _sides(pair: Contradiction) -> list[Side]:
    """Its sides, after the text that replaced them where they were merged; three queries."""
    a, b = pair.memory_a, pair.memory_b
    shown: list[tuple[str, str, Memory, SafeString | str]]
    if b is None:
        shown = [("a", "Reported as wrong", a, a.content)]
    else:
        shown = [
            ("a", "A (earlier)", a, marked(a.content, b.content)),
            ("b", "B (later)", b, marked(b.content, a.content)),
        ]
    if pair.resolution == MERGED and a.superseded_by is not None:
        title = "Replacement of both" if b else "Replacement"
        shown.insert(0, ("", title, a.superseded_by, a.superseded_by.content))
    sources = {each[2].pk: each[2].source_message_ids[-_MOST_SOURCES:] for each in shown}
    talks = passages_of(sources, team_id=pair.team_id)
    used = MemoryUsage.objects.filter(team_id=pair.team_id).in_bulk([*sources])
    return [
        Side(
            letter,
            title,
            memory,
            text,
            talks[memory.pk],
            used.get(memory.pk) or MemoryUsage(memory=memory),
        )
        for letter, title, memory, text in shown
    ]


def _reason(pair: Contradiction) -> str:
    """Why the two were found to conflict, by whom, in one or two sentences."""
    reason = pair.reason.strip().rstrip(".")
    if pair.memory_b_id is None:
        said = f"{actor_words(pair.judge)} reported it as wrong"
        return f"{said}: {reason}." if reason and reason != "said to be wrong" else f"{said}."
    found = _FOUND.get(Strategy(pair.strategy), "They conflict")
    subject = pair.memory_a.subject
    if pair.strategy == Strategy.SAME_SUBJECT and subject:
        found = f"Both are about “{subject}”"
    told = f" The judge ({pair.judge}): {reason}." if reason else f" Judge: {pair.judge}."
    return f"{found}.{told}"


def _settled(pair: Contradiction) -> str:
    """Returns how, when, why and by whom it was settled, worded as by the service; "" if open."""
    if pair.resolved_at is None:
        return ""
    told = told_decision(
        resolution=pair.resolution,
        is_of_two=pair.memory_b_id is not None,
        by=actor_words(pair.resolved_by),
        at=pair.resolved_at,
        note=pair.resolution_note,
    )
    return f"It is already settled, {told}."


def _past_decisions(pair: Contradiction) -> list[PastDecision]:
    """Its settlements, the newest first; two queries."""
    rows = list(Settlement.objects.filter(team_id=pair.team_id, contradiction=pair))
    first = [row.first_seq for row in rows if row.first_seq is not None]
    log = MemoryLog.objects.filter(team_id=pair.team_id, seq__in=first) if first else ()
    reasons = {entry.seq: entry.reason for entry in log}
    decisions = []
    for row in rows:
        # The log has the note after the resolution, in brackets.
        note = reasons.get(row.first_seq or 0, "").partition(f": {row.resolution}")[2].strip()
        note = note.removeprefix("(").removesuffix(")")
        decisions.append(PastDecision(row, decision_words(pair, row.resolution), note))
    return decisions


def carry_out(request: HttpRequest, pair: Contradiction, form: ReviewForm) -> SafeString | str:
    """Carries out the choice and returns what became of it; raises a DomainError if refused."""
    choice, note = form.cleaned_data["choice"], form.cleaned_data["note"]
    if choice in SNOOZES:
        viewer, until = viewer_of(request, pair), timezone.now() + SNOOZES[choice]
        with outside_staff_scope(request):
            snooze_contradiction(viewer=viewer, contradiction_id=pair.pk, until=until)
        return f"Left for later ({'1 day' if choice == 'day' else '1 week'}): {name_of(pair)}."
    merged = form.cleaned_data["content"] if choice == "merge" else ""
    told = settle(request, pair, note, resolution=_RESOLUTIONS[choice], merged_content=merged)
    return told or "Settled."


def with_undo(told: str, url: str) -> SafeString:
    """Returns the message with a button that undoes the decision it is about."""
    return format_html(
        '{} <button type="submit" form="{}" formaction="{}" data-key="u" class="review-undo">'
        "Undo <kbd>u</kbd></button>",
        told,
        UNDO_FORM,
        url,
    )


def take_back(request: HttpRequest, pair: Contradiction) -> None:
    """Undoes the settlement of the contradiction, with a message to the reviewer."""
    viewer = viewer_of(request, pair)
    try:
        with outside_staff_scope(request):
            undone = undo_settlement(viewer=viewer, contradiction_id=pair.pk, now=timezone.now())
    except ChangedSinceError as error:
        told = [f"“{excerpt(each.memory.content, 60)}” {each.how}" for each in error.changed]
        messages.warning(
            request, f"Not undone, because memories have changed since: {'; '.join(told)}."
        )
    except DomainError as error:
        messages.warning(request, with_names(error.message))
    else:
        more = len(undone.reopened)
        with_it = f" {more} closed with it {'is' if more == 1 else 'are'} open again too."
        messages.success(
            request, f"Undone: {name_of(pair)} is open again.{with_it if more else ''}"
        )

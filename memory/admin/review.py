"""The page on which one contradiction after the other is settled, by a key or a click each."""

from __future__ import annotations

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

from memory.domain.audience import Viewer
from memory.domain.judgements import A_WINS, B_WINS, BOTH_VALID, MERGED
from memory.models import Contradiction
from memory.writing.decisions.changes import snooze_contradiction
from memory.writing.decisions.undoing import ChangedSinceError, undo_settlement
from memory.writing.secrets import masked_note, masked_text
from teams.admin.confirm import MAX_REASON
from teams.admin.display import excerpt
from teams.admin.theme import TextWidget
from teams.errors import DomainError, InvalidError
from teams.middleware import outside_staff_scope

from .decisions import past_decisions, reason_sentence
from .evidence import sides_of
from .rewriting import TextAreaWidget
from .settlements import linked, open_beside, settle
from .sides import name_of, settled_words

_RESOLUTIONS = {"a": A_WINS, "b": B_WINS, "both": BOTH_VALID, "merge": MERGED}
_SNOOZES = {"day": timedelta(days=1), "week": timedelta(weeks=1)}
UNDO_FORM = "undo-form"


class ReviewForm(forms.Form):
    """What a reviewer chose, why, and what a merge is to say."""

    choice = forms.ChoiceField(choices=[(each, each) for each in (*_RESOLUTIONS, *_SNOOZES)])
    note = forms.CharField(
        required=False,
        max_length=MAX_REASON,
        widget=TextWidget,
    )
    content = forms.CharField(
        required=False,
        max_length=settings.MAX_CONTENT_CHARS,
        widget=TextAreaWidget(attrs={"rows": 4}),
    )

    def clean_content(self) -> str:
        """The text with the line ends of a text, not of a browser's form."""
        return "\n".join(self.cleaned_data["content"].splitlines())

    def clean_note(self) -> str:
        """The note as the log will have it."""
        return masked_note(self.cleaned_data["note"])

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """A merge needs a text that says something; a text typed for another choice is dropped."""
        values = super().clean() or self.cleaned_data
        if values.get("choice") == "merge" and "content" in values:
            if not values["content"].strip():
                self.add_error("content", "Enter the new text.")
                return values
            try:
                masked_text(text=values["content"], field="content")
            except InvalidError as error:
                self.add_error("content", error.message)
        return values


@dataclass(frozen=True, slots=True)
class Queue:
    """The open contradictions of the list that one came from, in its order."""

    ids: list[UUID]

    def after(self, pk: UUID) -> list[UUID]:
        """The others, beginning with the one after it, and from the top again at the end."""
        if pk not in self.ids:
            return self.ids
        place = self.ids.index(pk)
        return [*self.ids[place + 1 :], *self.ids[:place]]

    def place_of(self, pk: UUID) -> int:
        """Its number in the queue, from 1; 0 where it is not in it."""
        return self.ids.index(pk) + 1 if pk in self.ids else 0

    def next_open(self, pk: UUID) -> UUID | None:
        """The next one that is open at this moment."""
        following = self.after(pk)
        still = set(
            Contradiction.objects.filter(pk__in=following, resolved_at=None).values_list(
                "pk", flat=True
            )
        )
        return next((each for each in following if each in still), None)


def review_context(
    *, pair: Contradiction, queue: Queue, form: ReviewForm, start: str
) -> dict[str, Any]:  # Any: a template's context
    """What the page shows of the contradiction; `start` says what a merge begins with."""
    sides = sides_of(pair)
    texts = {side.letter: side.memory.content for side in sides if side.letter}
    texts["both"] = "\n".join(texts.values())
    if not form.is_bound:
        form.initial["content"] = texts.get(start, texts["both"])
    beside = open_beside(pair)
    history = past_decisions(pair)
    return {
        "pair": pair,
        "sides": sides,
        "uses": sum(side.usage.retrieved for side in sides if side.letter),
        "reason": reason_sentence(pair),
        "settled": settled_words(pair),
        "is_snoozed": pair.snoozed_until is not None and pair.snoozed_until > timezone.now(),
        "history": history,
        "can_undo": any(each.can_undo for each in history),
        "beside": [linked(each) for each in beside],
        "form": form,
        "starts": [(name, texts[name]) for name in ("a", "b", "both") if name in texts],
        "place": queue.place_of(pair.pk),
        "waiting": len(queue.ids),
        "undo_form": UNDO_FORM,
    }


def carry_out(request: HttpRequest, pair: Contradiction, form: ReviewForm) -> SafeString | str:
    """Do what was chosen and say what became of it; raises a DomainError where it cannot be."""
    choice, note = form.cleaned_data["choice"], form.cleaned_data["note"]
    if choice in _SNOOZES:
        until = timezone.now() + _SNOOZES[choice]
        with outside_staff_scope(request):
            snooze_contradiction(
                viewer=viewer_of(request, pair), contradiction_id=pair.pk, until=until
            )
        return f"Left for {'a day' if choice == 'day' else 'a week'}: {name_of(pair)}."
    told = settle(
        request,
        pair,
        note,
        resolution=_RESOLUTIONS[choice],
        merged_content=form.cleaned_data["content"] if choice == "merge" else "",
    )
    return told or "It is settled."


def with_undo(told: str, url: str) -> SafeString:
    """A message with a button that takes back what it tells of."""
    return format_html(
        '{} <button type="submit" form="{}" formaction="{}" data-key="u" class="review-undo">'
        "Undo <kbd>u</kbd></button>",
        told,
        UNDO_FORM,
        url,
    )


def take_back(request: HttpRequest, pair: Contradiction) -> None:
    """Take the settlement of the contradiction back, and tell the reviewer."""
    try:
        with outside_staff_scope(request):
            undone = undo_settlement(
                viewer=viewer_of(request, pair), contradiction_id=pair.pk, now=timezone.now()
            )
    except ChangedSinceError as error:
        told = [f"“{excerpt(each.memory.content, 60)}” {each.how}" for each in error.changed]
        messages.warning(request, f"Not taken back, as memories changed since: {'; '.join(told)}.")
    except DomainError as error:
        messages.warning(request, error.message)
    else:
        more = len(undone.reopened)
        with_it = f" {more} that ended with it {'is' if more == 1 else 'are'} open again too."
        messages.success(
            request, f"Taken back: {name_of(pair)} is open again.{with_it if more else ''}"
        )


def viewer_of(request: HttpRequest, pair: Contradiction) -> Viewer:
    """The login as a member of the contradiction's team."""
    return Viewer(team_id=pair.team_id, actor=f"staff:{request.user.get_username()}")

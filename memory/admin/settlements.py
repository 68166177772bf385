"""How the admin settles a contradiction; each is one call of the service that the API calls too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.utils import timezone

from memory.clients.tools import default_tools
from memory.domain.text import NO_WORDS, has_words
from memory.domain.viewer import Viewer
from memory.models import Contradiction
from memory.services.deciding.disputes import (
    A_WINS,
    B_WINS,
    BOTH_VALID,
    MERGED,
    resolve_contradiction,
)
from memory.services.writing.drafts import Outcome
from teams.admin.confirm import MAX_REASON, Change
from teams.admin.display import excerpt
from teams.admin.theme import TextWidget
from teams.middleware import outside_staff_scope

_NAME_CHARS = 60


class TextAreaWidget(TextWidget):
    """The theme's input over several lines."""

    template_name = "django/forms/widgets/textarea.html"


class MergeForm(forms.Form):
    """What the merged memory says, and why."""

    content = forms.CharField(
        max_length=settings.MAX_CONTENT_CHARS,
        error_messages={"required": "Say what the merged memory says."},
        widget=TextAreaWidget(attrs={"rows": 5}),
    )
    reason = forms.CharField(required=False, max_length=MAX_REASON, widget=TextWidget)

    def clean_content(self) -> str:
        """The text with the line ends of a text, not of a browser's form."""
        text: str = self.cleaned_data["content"]
        if not has_words(text):
            raise forms.ValidationError(NO_WORDS)
        return "\n".join(text.splitlines())


def merging(*, pair: Contradiction, content: str) -> Change[Contradiction]:
    """The change that writes `content` in place of what conflicts."""
    is_two = pair.memory_b_id is not None
    return Change(
        verb="Merge" if is_two else "Correct",
        done="settled",
        explanation=(
            "It stands in place of both sides, which stay in the history as its earlier versions."
            if is_two
            else "It stands in place of what is wrong, which stays in the history as its earlier"
            " version."
        ),
        apply=partial(_settle, resolution=MERGED, merged_content=content),
        name=_name,
    )


def _settle(
    request: HttpRequest,
    pair: Contradiction,
    reason: str,
    *,
    resolution: str,
    merged_content: str = "",
) -> None:
    # A merge embeds its text and may ask a model, for which no transaction should wait.
    with outside_staff_scope(request):
        settled = resolve_contradiction(
            viewer=Viewer(team_id=pair.team_id, actor=f"staff:{request.user.get_username()}"),
            contradiction_id=pair.pk,
            resolution=resolution,
            note=reason,
            merged_content=merged_content,
            tools=default_tools(),
            now=timezone.now(),
        )
    if settled.merged is None:
        return
    if settled.merged.secret_masked:
        messages.warning(request, "A key, password or card number in the text was masked.")
    if settled.merged.outcome == Outcome.DUPLICATE:
        messages.info(request, "Another memory says so already; it stands in place of this.")


def _change(
    explanation: str, resolution: str, effect: Callable[[Contradiction], str]
) -> Change[Contradiction]:
    return Change(
        verb="Settle",
        done="settled",
        explanation=explanation,
        apply=partial(_settle, resolution=resolution),
        asks_reason=True,
        effect=effect,
        name=_name,
    )


def _a(pair: Contradiction) -> str:
    return f"“{excerpt(pair.memory_a.content, _NAME_CHARS)}”"


def _b(pair: Contradiction) -> str:
    return f"“{excerpt(pair.memory_b.content, _NAME_CHARS)}”" if pair.memory_b else ""


def _name(pair: Contradiction) -> str:
    return f"{_a(pair)} against {_b(pair)}" if pair.memory_b else f"{_a(pair)}, said to be wrong"


def _a_stands(pair: Contradiction) -> str:
    if pair.memory_b is None:
        return f"{_a(pair)} stands, although it was said to be wrong."
    return f"{_a(pair)} stands; {_b(pair)} is superseded."


def _b_stands(pair: Contradiction) -> str:
    if pair.memory_b is None:
        return f"{_a(pair)} is wrong and is deleted."
    return f"{_b(pair)} stands; {_a(pair)} is superseded."


def _both_stand(pair: Contradiction) -> str:
    return _a_stands(pair) if pair.memory_b is None else f"{_a(pair)} and {_b(pair)} both stand."


_STAYS = "What is superseded or deleted is found no more; its text and history stay here."
A_STANDS = _change(f"A, the earlier side, stands. {_STAYS}", A_WINS, _a_stands)
B_STANDS = _change(
    f"B, the later side, stands; where somebody only said that A is wrong, A is deleted. {_STAYS}",
    B_WINS,
    _b_stands,
)
BOTH_STAND = _change("Both sides are valid: they stand, undisputed.", BOTH_VALID, _both_stand)
STANDS = _change("It is right: it stands, undisputed.", A_WINS, _a_stands)
IS_WRONG = _change(f"It is wrong. {_STAYS}", B_WINS, _b_stands)

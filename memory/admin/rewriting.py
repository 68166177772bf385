"""The page on which a reviewer writes a text in place of memories: asked, shown, then stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from memory.writing.secrets import MaskedText, masked_note, masked_text
from teams.admin.confirm import MAX_REASON, Change
from teams.admin.theme import Row, TextWidget, ThemedAdmin
from teams.errors import DomainError, InvalidError

from .cards import Card

_TEMPLATE = "admin/memory/rewrite.html"


class TextAreaWidget(TextWidget):
    """The theme's input over several lines."""

    template_name = "django/forms/widgets/textarea.html"


class RewriteForm(forms.Form):
    """What is to be read from now on, and why; `stored` is the text as it would be kept."""

    content = forms.CharField(
        max_length=settings.MAX_CONTENT_CHARS,
        error_messages={"required": "Enter the new text."},
        widget=TextAreaWidget(attrs={"rows": 5}),
    )
    reason = forms.CharField(required=False, max_length=MAX_REASON, widget=TextWidget)
    stored = MaskedText("")

    def clean_content(self) -> str:
        """The text with the line ends of a text, not of a browser's form."""
        text = "\n".join(self.cleaned_data["content"].splitlines())
        try:
            self.stored = masked_text(text=text, field="content")
        except InvalidError as error:
            raise forms.ValidationError(error.message) from error
        return text

    def clean_reason(self) -> str:
        """The reason as the log will have it."""
        return masked_note(self.cleaned_data["reason"])


def rewrite_page(
    model_admin: ThemedAdmin[Row],
    request: HttpRequest,
    *,
    row: Row,
    change: Callable[[str], Change[Row]],
    cards: Sequence[Card],
    page: str,
    refusal: str,
    lands: Callable[[], str] | None = None,
) -> HttpResponse:
    """Ask for the text beside the cards, show what it will say, then make the `change` of it.

    With a `refusal` nothing can be written any more: it is said, and what was typed is shown. Where
    the change is refused, the form comes back as it was filled in. Leads to `page` in the end, or
    to what `lands` gives by then.
    """
    if refusal and request.method != "POST":
        messages.warning(request, refusal)
        return HttpResponseRedirect(lands() if lands else page)
    # One text is changed; of two, neither is where the new one begins.
    before = cards[0].memory.content if len(cards) == 1 else ""
    form = RewriteForm(request.POST or None, initial={"content": before})
    is_filled = form.is_valid() and "edit" not in request.POST and not refusal
    made = change(form.cleaned_data["content"] if is_filled else "")
    if is_filled and request.POST.get("confirmed") == "yes":
        try:
            told = made.apply(request, row, form.cleaned_data["reason"])
        except DomainError as error:
            form.add_error(None, error.message)
            is_filled = False
        else:
            if told != "":
                messages.success(request, f"The text was saved. {told or ''}".strip())
            return HttpResponseRedirect(lands() if lands else page)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": f"{made.verb}: write the new text",
        "opts": model_admin.opts,
        "page": page,
        "cards": cards,
        "form": form,
        "is_preview": is_filled,
        "refusal": refusal,
        "change": made,
    }
    return TemplateResponse(request, _TEMPLATE, context)

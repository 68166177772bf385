"""The page that lists the keys of the admin."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

_TEMPLATE = "admin/memory/key_list.html"


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """The keys of one kind of page: what is pressed together, and what it does."""

    title: str
    keys: tuple[tuple[tuple[str, ...], str], ...]


KEY_GROUPS = (
    KeyGroup(
        "Every page",
        (
            (("?",), "this list"),
            (("t",), "search the menu"),
            (("/",), "search the list"),
            (("Esc",), "leave a field"),
        ),
    ),
    KeyGroup(
        "Contradictions",
        (
            (("r",), "review from the top"),
            (("u",), "undo the decision that was just made"),
        ),
    ),
    KeyGroup(
        "A contradiction",
        (
            (("a",), "keep A"),
            (("b",), "keep B"),
            (("v",), "both are valid"),
            (("m",), "merge: write one text in place of both"),
            (("Ctrl", "Enter"), "save the merged text"),
            (("s",), "leave it for a day"),
            (("w",), "leave it for a week"),
            (("n",), "skip to the next one"),
            (("u",), "undo the decision that was just made, or the one on this page"),
            (("l",), "back to the list"),
        ),
    ),
    KeyGroup(
        "A consent request",
        (
            (("y",), "approve"),
            (("x",), "reject"),
            (("n",), "skip to the next one"),
        ),
    ),
)


def key_list(request: HttpRequest) -> HttpResponse:
    """The keys, by the page on which they do something."""
    context = {**admin.site.each_context(request), "title": "Keys", "groups": KEY_GROUPS}
    return TemplateResponse(request, _TEMPLATE, context)

"""The team's categories: usually loaded from its file, and editable here."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from memory.domain.types import DELETED
from memory.models import Category, Memory
from teams.admin.base import TeamAdmin
from teams.admin.display import excerpt_column, time_column
from teams.admin.theme import ChoiceFilter, RelatedFilter, display
from teams.admin_permissions import ADMINS

_COUNTED = "palimpsest_memories"


@admin.register(Category)
class CategoryAdmin(TeamAdmin[Category]):
    """Words for what memories are about; removing one changes no memory."""

    add_roles = change_roles = delete_roles = ADMINS
    list_display = ["name", "context", "length", "beginning", "team", "created"]
    list_filter = [("team", RelatedFilter), ("context", ChoiceFilter)]
    list_select_related = ["team"]
    search_fields = ["name", "description"]
    fields = ["team", "name", "description", "context", "length", "memories", "created"]
    readonly_fields = ["memories", "created"]
    help_texts = {
        "name": "One word, such as goals. Memories and agents name it, so it stays as it is.",
        "description": "What belongs in it.",
        "context": "What an answer that asks for the category gets of it.",
    }

    beginning = excerpt_column("description", "description")
    created = time_column("created_at", "created")

    def get_readonly_fields(self, request: HttpRequest, obj: Category | None = None) -> Any:
        """The name of a stored one stays: memories and allowlists name it."""
        fields = super().get_readonly_fields(request, obj)
        return fields if obj is None else [*fields, "name"]

    @display(description="memories")
    def memories(self, category: Category) -> str:
        """How many memories that are not deleted name it."""
        # The theme asks several times for what a page shows once.
        known: int | None = category.__dict__.get(_COUNTED)
        if known is None:
            rows = Memory.objects.filter(team_id=category.team_id, category=category.name)
            known = rows.exclude(status__in=DELETED).count()
            setattr(category, _COUNTED, known)
        return str(known)

"""How a memory looks in its list and on its page."""

from __future__ import annotations

from django.template.defaultfilters import linebreaksbr
from django.utils.html import format_html

from memory.models import Memory
from teams.admin.base import TeamAdmin
from teams.admin.columns import id_column, json_column, label_column, time_column
from teams.admin.display import NOTHING, excerpt, words
from teams.admin.theme import display

STATUS_COLOURS = {
    "active": "success",
    "disputed": "warning",
    "superseded": "info",
    "soft_deleted": "danger",
    "archived": "default",
}


class MemoryDisplay(TeamAdmin[Memory]):
    """The columns and fields that say something of a memory."""

    status_label = label_column("status", "status", STATUS_COLOURS)
    created = time_column("created_at", "created")
    updated = time_column("updated_at", "last change")
    payload_document = json_column("payload", "payload")
    valid_from_time = time_column("valid_from", "holds from")
    valid_to_time = time_column("valid_to", "holds until")
    conversation_page = id_column("conversation_id", "teams_conversation", "conversation")

    @display(description="memory", ordering="content")
    def beginning(self, memory: Memory) -> str:
        """The first words."""
        return format_html(
            '<span class="block break-words w-80">{}</span>', excerpt(memory.content)
        )

    @display(description="type", ordering="memory_type")
    def kind(self, memory: Memory) -> str:
        """What kind of thing it holds."""
        return memory.memory_type.replace("_", " ")

    @display(description="pinned", ordering="is_pinned")
    def pin(self, memory: Memory) -> str:
        """A pin for a pinned one."""
        if not memory.is_pinned:
            return ""
        return format_html(
            '<span class="material-symbols-outlined text-primary-600 dark:text-primary-500"'
            ' role="img" aria-label="{0}" title="{0}">keep</span>',
            "pinned",
        )

    @display(description="said again")
    def said_again(self, memory: Memory) -> str:
        """How often it was said after it was first stored."""
        return f"{memory.corroboration} times" if memory.corroboration else "never"

    @display(description="text")
    def text(self, memory: Memory) -> str:
        """Every word."""
        return format_html(
            '<div class="leading-relaxed text-base text-font-important-light'
            ' dark:text-font-important-dark">{}</div>',
            linebreaksbr(memory.content),
        )

    @display(description="subject", ordering="subject")
    def about(self, memory: Memory) -> str:
        """What it is about."""
        if not memory.subject:
            return NOTHING
        return format_html('<span class="block break-words w-40">{}</span>', memory.subject)

    @display(description="tags")
    def tag_words(self, memory: Memory) -> str:
        """Its tags."""
        return words(memory.tags)

    @display(description="id")
    def whole_id(self, memory: Memory) -> str:
        """Its id, to copy."""
        return str(memory.pk)

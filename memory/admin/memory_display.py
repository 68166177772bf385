"""How a memory looks in its list and on its page."""

from __future__ import annotations

from django.template.defaultfilters import linebreaksbr
from django.utils.html import format_html

from memory.models import Memory
from teams.admin.base import TeamAdmin
from teams.admin.display import NOTHING, as_json, excerpt, id_link, moment, words
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

    @display(description="status", ordering="status", label=STATUS_COLOURS)
    def status_label(self, memory: Memory) -> tuple[str, str]:
        """Where it stands, coloured."""
        return memory.status, memory.status.replace("_", " ")

    @display(description="said again")
    def said_again(self, memory: Memory) -> str:
        """How often it was said after it was first stored."""
        return f"{memory.corroboration} times" if memory.corroboration else "never"

    @display(description="created", ordering="created_at")
    def created(self, memory: Memory) -> str:
        """When it was said."""
        return moment(memory.created_at)

    @display(description="last change")
    def updated(self, memory: Memory) -> str:
        """When its state last changed."""
        return moment(memory.updated_at)

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

    @display(description="payload")
    def payload_document(self, memory: Memory) -> str:
        """The structure of its form."""
        return as_json(memory.payload)

    @display(description="holds from")
    def valid_from_time(self, memory: Memory) -> str:
        """Since when it is true."""
        return moment(memory.valid_from)

    @display(description="holds until")
    def valid_to_time(self, memory: Memory) -> str:
        """Until when it is true."""
        return moment(memory.valid_to)

    @display(description="conversation")
    def conversation_page(self, memory: Memory) -> str:
        """The conversation it came from."""
        return id_link("teams_conversation", memory.conversation_id)

    @display(description="id")
    def whole_id(self, memory: Memory) -> str:
        """Its id, to copy."""
        return str(memory.pk)

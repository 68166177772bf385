"""Django app: Chat."""

from memory import satellite


class ChatConfig(satellite.Satellite):
    """The OpenAI-compatible chat endpoint."""

    name = "memory.satellites.chat"
    label = "chat"
    verbose_name = "Chat"
    routes = "memory.satellites.chat.views"

"""Django app: LangGraph."""

from memory import satellite


class LanggraphConfig(satellite.Satellite):
    """Checkpoints and store items of LangGraph."""

    name = "memory.satellites.langgraph"
    label = "langgraph"
    verbose_name = "LangGraph"
    routes = "memory.satellites.langgraph.urls"
    of_person = {
        "item": ("StoreItem", "end_user_id"),
        "graph_thread": ("GraphThread", "end_user_id"),
        "graph_checkpoint": ("GraphCheckpoint", "thread__end_user_id"),
        "channel_value": ("ChannelValue", "thread__end_user_id"),
        "pending_write": ("PendingWrite", "thread__end_user_id"),
    }
    periodic = {
        "memory.satellites.langgraph.tasks.expire_items": 60.0,
    }

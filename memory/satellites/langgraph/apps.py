"""Django app: LangGraph."""

from memory import satellite


class LanggraphConfig(satellite.Satellite):
    """Checkpoints and store items of LangGraph."""

    name = "memory.satellites.langgraph"
    label = "langgraph"
    verbose_name = "LangGraph"
    routes = "memory.satellites.langgraph.urls"
    periodic = {
        "memory.satellites.langgraph.tasks.expire_items": 60.0,
    }

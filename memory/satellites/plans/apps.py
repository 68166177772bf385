"""Django app: Context plans."""

from memory import satellite


class PlansConfig(satellite.Satellite):
    """Read-only block, selection, context for coding agents, prediction and packages."""

    name = "memory.satellites.plans"
    label = "plans"
    verbose_name = "Context plans"
    requires = ("tasks",)
    routes = "memory.satellites.plans.urls"
    enums = {
        "AskedScopeEnum": "memory.satellites.plans.read_only_api.ASKED_SCOPES",
    }

    def ready(self) -> None:
        """Learns which memories were of use."""
        super().ready()
        from memory.satellites.plans.predicting import note_useful
        from memory.writing.decisions.changes import LISTENERS

        LISTENERS.append(note_useful)

    def warm_up(self) -> None:
        """Embeds the examples of request types."""
        from memory.satellites.plans.choosing import kind_of_request

        kind_of_request("What is remembered of this?")

"""Django app: Workflows and patterns."""

from memory import satellite


class WorkflowsConfig(satellite.Satellite):
    """Recorded workflows and learned code patterns."""

    name = "memory.satellites.workflows"
    label = "workflows"
    verbose_name = "Workflows and patterns"
    routes = "memory.satellites.workflows.urls"

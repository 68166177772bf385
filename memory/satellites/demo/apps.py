"""Django app: Demo."""

from memory import satellite


class DemoConfig(satellite.Satellite):
    """Loads a team with a story to look around in."""

    name = "memory.satellites.demo"
    label = "demo"
    verbose_name = "Demo"
    requires = ("consent", "lifecycle", "tasks", "transfer", "webhooks")

"""Django app: Playground."""

from memory import satellite


class PlaygroundConfig(satellite.Satellite):
    """Tries questions in the admin and shows what became of every candidate."""

    name = "memory.satellites.playground"
    label = "playground"
    verbose_name = "Playground"
    mounts = {"admin/memory/playground/": "memory.satellites.playground.page"}

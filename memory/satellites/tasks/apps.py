"""Django app: Tasks."""

from memory import satellite


class TasksConfig(satellite.Satellite):
    """Working memory of tasks."""

    name = "memory.satellites.tasks"
    label = "tasks"
    verbose_name = "Tasks"
    routes = "memory.satellites.tasks.urls"

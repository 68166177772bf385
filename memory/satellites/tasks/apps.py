"""Django app: Tasks."""

from memory import satellite


class TasksConfig(satellite.Satellite):
    """Working memory of tasks."""

    name = "memory.satellites.tasks"
    label = "tasks"
    verbose_name = "Tasks"
    routes = "memory.satellites.tasks.api"
    enums = {
        "ItemKindEnum": "memory.satellites.tasks.api.KINDS",
        "ProjectKindEnum": "memory.satellites.tasks.api.PROJECT_KINDS",
        "TaskStatusEnum": "memory.satellites.tasks.api.STATES",
    }

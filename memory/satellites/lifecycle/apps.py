"""Django app: Lifecycle."""

from memory import satellite


class LifecycleConfig(satellite.Satellite):
    """Consolidates, compresses, archives and purges memories."""

    name = "memory.satellites.lifecycle"
    label = "lifecycle"
    verbose_name = "Lifecycle"
    routes = "memory.satellites.lifecycle.api"
    enums = {
        "StepEnum": "memory.satellites.lifecycle.models.STEPS",
        "RunStateEnum": "memory.satellites.lifecycle.models.RUN_STATES",
        "ChangeStateEnum": "memory.satellites.lifecycle.models.CHANGE_STATES",
    }
    periodic = {
        "memory.satellites.lifecycle.tasks.consolidate_due_teams": 300.0,
        "memory.satellites.lifecycle.tasks.purge_expired": 600.0,
    }

"""Django app: Workflows and patterns."""

from memory import satellite


class WorkflowsConfig(satellite.Satellite):
    """Recorded workflows and learned code patterns."""

    name = "memory.satellites.workflows"
    label = "workflows"
    verbose_name = "Workflows and patterns"
    requires = ("chat", "consent")
    routes = "memory.satellites.workflows.api"
    enums = {
        "RecordingStatusEnum": "memory.satellites.workflows.api.STATES",
    }

    def ready(self) -> None:
        """Searches extracted talk for workflows."""
        super().ready()
        from memory.satellites.workflows.proposing import look_for_workflows
        from memory.writing.pipeline import AFTER_JOB

        AFTER_JOB.append(look_for_workflows)

"""Django app: Episodes and insights."""

from memory import satellite


class EpisodesConfig(satellite.Satellite):
    """Tells conversations as episodes and draws insights about people."""

    name = "memory.satellites.episodes"
    label = "episodes"
    verbose_name = "Episodes and insights"
    periodic = {
        "memory.satellites.episodes.tasks.close_sittings": 300.0,
        "memory.satellites.episodes.tasks.draw_insights": 3600.0,
    }

    def ready(self) -> None:
        """Proposes episodes to the search, and names the task of their jobs."""
        super().ready()
        from memory.models import Job
        from memory.reading.search import SOURCES
        from memory.satellites.episodes.making import RUN_TASK, episodes_of
        from memory.writing.jobs import TASKS

        SOURCES.append(episodes_of)
        TASKS[Job.Kind.EPISODE.value] = RUN_TASK

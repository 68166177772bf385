"""Django app: Query."""

from memory import satellite


class QueryConfig(satellite.Satellite):
    """Answers questions with categories, filters and a budget (seed 004, section 6)."""

    name = "memory.satellites.query"
    label = "query"
    verbose_name = "Query"
    routes = "memory.satellites.query.views"

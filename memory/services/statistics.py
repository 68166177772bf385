"""What PostgreSQL knows of the tables that are searched, renewed after they grew at once."""

from __future__ import annotations

from django.db import connections

# Its own daemon looks once a minute at most, and until then plans as if the tables were small.
_TABLES = (
    "memory_memory",
    "memory_searchentry",
    "memory_messageentry",
    "memory_memoryusage",
    "memory_memoryrelation",
)
# So many new rows make no plan wrong.
WORTH_IT = 1_000


def renew_statistics() -> None:
    """Have the planner look at the tables that searches read.

    That is the owner's right: who runs it with the application's login alone leaves it to the
    daemon.
    """
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(_TABLES)}")

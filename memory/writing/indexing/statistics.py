"""What PostgreSQL knows of the tables that it plans for, renewed after they grew at once."""

from __future__ import annotations

from django.db import connection

# As `memory/sql/renew_statistics.sql` has them.
_TABLES = (
    "memory_memory",
    "memory_searchentry",
    "memory_messageentry",
    "memory_memoryusage",
    "memory_memoryrelation",
    "teams_message",
    "teams_enduser",
    "teams_conversation",
    "audit_logcommit",
)
# So many new rows make no plan wrong, nor does a smaller share of what is there; PostgreSQL's own
# daemon looks at that within minutes.
WORTH_IT = 1_000
_SHARE = 0.5


def renew_statistics(*, least_changed: int = 0, least_share: float = 0.0) -> list[str]:
    """Have the planner look at the tables that grow; returns those that it looked at.

    Only at those of which at least so many rows, and such a share, were changed since the last
    time. Each in a transaction of its own, as looking at a large one takes seconds.
    """
    looked_at = []
    for table in _TABLES:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT palimpsest_renew_statistics(%s, %s, %s)",
                [table, least_changed, least_share],
            )
            if cursor.fetchone() == (True,):
                looked_at.append(table)
    return looked_at


def renew_outdated_statistics() -> list[str]:
    """`renew_statistics` of the tables that have grown much since."""
    return renew_statistics(least_changed=WORTH_IT, least_share=_SHARE)

"""Work of the database at every change of a memory: log, order, seal, erase."""

from django.db import migrations

from teams.tenancy_sql import owners_triggers, sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_initial"),
        ("memory", "0001_initial"),
        ("routing", "0001_initial"),
    ]
    operations = [
        *sql_files(
            __file__,
            "team_revision",
            "message_revision",
            "enter_log",
            "seals",
            "erasure",
            "erasure_guards",
            "commit_order",
            "memory_log",
            "leaves",
            "event_partitions",
            "forget_statistics",
        ),
        owners_triggers(),
    ]

"""What the database itself does with every change of a memory: log, order, seal, erase."""

from pathlib import Path

from django.db import migrations

from teams.tenancy_sql import APP_ROLE

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    # Those that an installation of before this file has carried out.
    replaces = [
        ("audit", "0002_team_revision"),
        ("audit", "0003_message_revision"),
        ("audit", "0004_seals_and_erasure"),
        ("audit", "0005_commit_order"),
        ("audit", "0006_leaves"),
        ("audit", "0007_event_partitions"),
        ("audit", "0008_salted_reasons"),
        ("audit", "0009_log_by_event_and_actor"),
        ("audit", "0010_forget_statistics"),
        ("audit", "0011_definers_and_flags"),
    ]
    dependencies = [
        ("audit", "0001_schema"),
        ("memory", "0001_schema"),
        ("routing", "0001_schema"),
    ]
    operations = [
        *(
            migrations.RunSQL((SQL / f"{name}.sql").read_text(), migrations.RunSQL.noop)
            for name in (
                "team_revision",
                "message_revision",
                "enter_log",
                "seals",
                "erasure",
                "erasure_guards",
                "commit_order",
                "leaves",
                "event_partitions",
                "forget_statistics",
                "definers_and_flags",
            )
        ),
        # The log is written by the database's own functions and by nobody else.
        migrations.RunSQL(
            f"REVOKE ALL ON SEQUENCE audit_memorylog_seq_seq FROM {APP_ROLE}",
            migrations.RunSQL.noop,
        ),
    ]

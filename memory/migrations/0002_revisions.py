"""What else moves a team's revision, and the names that an erasure drops."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    # Those that an installation of before this file has carried out.
    replaces = [
        ("memory", "0009_shown_revision_and_message_matches"),
        ("memory", "0010_renew_statistics"),
        ("memory", "0011_usage_index_and_statistics"),
        ("memory", "0012_memories_by_time"),
        ("memory", "0013_people_of_entries"),
        ("memory", "0014_external_names"),
        ("memory", "0015_superseded_by"),
    ]
    dependencies = [
        ("memory", "0001_schema"),
        ("audit", "0002_guarantees"),
    ]
    operations = [
        *(
            migrations.RunSQL((SQL / f"{name}.sql").read_text(), migrations.RunSQL.noop)
            for name in ("shown_revision", "external_names")
        ),
    ]

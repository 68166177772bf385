"""A person's new name makes kept answers that tell of them out of date."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql" / "name_revision.sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_guarantees")]
    operations = [
        migrations.RunSQL(
            SQL.read_text(),
            "DROP TRIGGER move_revision_of_memories ON teams_enduser",
        )
    ]

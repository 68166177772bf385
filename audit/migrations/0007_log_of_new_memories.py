"""The log of new memories is written once for each statement."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql" / "log_of_new_memories.sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_erasing_purged_memories")]
    operations = [migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop)]

"""Jobs that rest until the next day are no longer counted among those that wait."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql" / "waiting_jobs.sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0023_defaults_for_older_servers'),
    ]

    operations = [migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop)]

"""What of a team's memory is announced to its webhooks."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql" / "webhook_events.sql"


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0027_jobs_with_annotations"),
        ("audit", "0007_log_of_new_memories"),
        ("teams", "0014_webhooks"),
    ]
    operations = [migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop)]

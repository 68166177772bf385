from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0009_log_by_event_and_actor'),
    ]

    operations = [
        migrations.RunSQL(
            (SQL / "forget_statistics.sql").read_text(),
            "DROP FUNCTION palimpsest_forget_statistics()",
        ),
    ]

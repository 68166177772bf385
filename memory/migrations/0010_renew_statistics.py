from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0009_shown_revision_and_message_matches"),
    ]

    operations = [
        migrations.RunSQL(
            (SQL / "renew_statistics.sql").read_text(),
            "DROP FUNCTION palimpsest_renew_statistics(text, bigint, float8)",
        ),
    ]

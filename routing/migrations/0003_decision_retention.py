from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('routing', '0002_models_and_decisions'),
    ]

    operations = [
        migrations.RunSQL(
            (SQL / "decision_retention.sql").read_text(),
            "DROP FUNCTION palimpsest_prune_decisions",
        ),
    ]

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0006_leaves'),
    ]

    operations = [
        # The model is the same: only where its rows lie is not.
        migrations.RunSQL((SQL / "event_partitions.sql").read_text(), migrations.RunSQL.noop),
    ]

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0008_message_entries'),
        ('audit', '0003_message_revision'),
    ]

    operations = [
        migrations.RunSQL((SQL / "shown_revision.sql").read_text(), migrations.RunSQL.noop),
        migrations.RunSQL((SQL / "message_matches.sql").read_text(), migrations.RunSQL.noop),
    ]

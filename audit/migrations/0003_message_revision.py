from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0002_team_revision'),
        ('memory', '0008_message_entries'),
    ]

    operations = [
        migrations.RunSQL((SQL / "message_revision.sql").read_text(), migrations.RunSQL.noop),
    ]

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0005_commit_order'),
    ]

    operations = [
        migrations.RunSQL((SQL / "leaves.sql").read_text(), migrations.RunSQL.noop),
    ]

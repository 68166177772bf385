"""A team that has an admin keeps one."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("teams", "0004_agent_aliases")]

    operations = [
        migrations.RunSQL((SQL / "last_admin.sql").read_text(), migrations.RunSQL.noop),
    ]

"""Only within a team's scope is it noted that its clock was set back."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql" / "clock_set_back.sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_clock_set_back")]
    operations = [migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop)]

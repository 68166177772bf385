"""A time that is still to come may be mended, as the clock was ahead when it was written."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql" / "mended_times.sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0021_windows_set_aside'),
        ('audit', '0005_clock_set_back'),
    ]

    operations = [migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop)]

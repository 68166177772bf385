"""A clock that was set back is noted in the order of commits."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql" / "clock_set_back.sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_erasing_purged_memories")]
    operations = [
        migrations.AddField(
            model_name="logcommit",
            name="is_set_back",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="logcommit",
            index=models.Index(
                condition=models.Q(("is_set_back", True)),
                fields=["team", "-position"],
                name="commit_set_back",
            ),
        ),
        migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop),
    ]

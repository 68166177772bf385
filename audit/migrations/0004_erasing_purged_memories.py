"""A team may choose that a purge erases the texts of what expired."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql" / "erasure.sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0003_names_of_people"),
        ("memory", "0020_team_facts_and_links"),
    ]
    operations = [
        migrations.AlterField(
            model_name="erasure",
            name="end_user_id",
            field=models.UUIDField(null=True),
        ),
        migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop),
    ]

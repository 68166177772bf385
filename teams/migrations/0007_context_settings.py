"""A team says how its facts are chosen and told as read-only context."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("teams", "0006_project_max_items")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="context_settings",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="How facts are chosen and told as read-only context, where it differs"
                " from the defaults.",
            ),
        ),
        migrations.RunSQL(
            (SQL / "team_document_with_context.sql").read_text(), migrations.RunSQL.noop
        ),
    ]

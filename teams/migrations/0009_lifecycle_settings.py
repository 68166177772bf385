"""A team says when its memories are merged, shortened, ranked and forgotten."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("teams", "0008_context_policies")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="lifecycle_settings",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="When memories are merged, shortened, ranked and forgotten, where it"
                " differs from the defaults.",
            ),
        ),
        migrations.RunSQL(
            (SQL / "team_document_with_lifecycle.sql").read_text(), migrations.RunSQL.noop
        ),
    ]

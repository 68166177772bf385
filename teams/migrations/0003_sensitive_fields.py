"""A team says which profile fields of its people change only with a yes."""

from pathlib import Path

from django.db import migrations, models

import teams.domain.team_settings

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("teams", "0002_agents_that_keep_to_themselves")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="sensitive_fields",
            field=models.JSONField(
                blank=True,
                default=teams.domain.team_settings.default_sensitive_fields,
                help_text="Profile fields of a person that change only with a yes.",
            ),
        ),
        migrations.RunSQL((SQL / "team_document.sql").read_text(), migrations.RunSQL.noop),
    ]

"""An agent's document says how the budget of a package is shared out."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("teams", "0007_context_settings")]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="context_policy",
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.RunSQL(
            (SQL / "agent_document_with_policy.sql").read_text(), migrations.RunSQL.noop
        ),
    ]

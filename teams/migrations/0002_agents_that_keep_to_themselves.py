"""An agent may keep what it learns to itself; its document says so."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("teams", "0001_schema")]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="keeps_to_itself",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="What it learns in talk belongs to it alone, and no other agent is told.",
            ),
        ),
        migrations.RunSQL((SQL / "agent_document.sql").read_text(), migrations.RunSQL.noop),
    ]

"""Which messages of a person all agents find that talk with this person; of before: none."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"
BACK = """
DROP TRIGGER move_revision_of_sharing ON memory_messageentry;
DROP TRIGGER withhold_given ON memory_messageentry;
DROP TRIGGER withhold_messages ON teams_agent;
DROP TRIGGER withhold_sources ON memory_memory;
DROP FUNCTION palimpsest_withhold_given();
DROP FUNCTION palimpsest_withhold_messages();
DROP FUNCTION palimpsest_withhold_sources();
DROP FUNCTION palimpsest_message_matches(uuid, text[], text[], int, uuid, uuid, boolean);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0003_candidates_left_out"),
        ("teams", "0002_agents_that_keep_to_themselves"),
        ("audit", "0002_guarantees"),
    ]

    operations = [
        migrations.AddField(
            model_name="messageentry",
            name="is_shared",
            field=models.BooleanField(editable=False, null=True),
        ),
        migrations.RunSQL(
            (SQL / "shared_messages.sql").read_text(),
            BACK + (SQL / "message_matches.sql").read_text(),
        ),
    ]

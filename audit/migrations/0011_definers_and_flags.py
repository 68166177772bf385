from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0010_forget_statistics'),
        ('memory', '0010_renew_statistics'),
        ('routing', '0003_decision_retention'),
        ('teams', '0005_team_versions'),
    ]

    operations = [
        migrations.RunSQL(
            (SQL / "definers_and_flags.sql").read_text(),
            "DROP TRIGGER move_revision_of_flags ON teams_team;"
            " DROP FUNCTION palimpsest_move_revision_of_flags()",
        ),
    ]

"""What no agent asked for, such as the judging of a person's merge, counts for the team alone."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

TOTALS = Path(__file__).parent.parent / "sql" / "spend_totals.sql"


class Migration(migrations.Migration):
    dependencies = [("routing", "0001_schema"), ("teams", "0001_schema")]

    operations = [
        *(
            migrations.AlterField(
                model_name=name,
                name="agent",
                field=models.ForeignKey(
                    blank=True,
                    db_constraint=False,
                    db_index=False,
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="+",
                    to="teams.agent",
                ),
            )
            for name in ("spendentry", "spendreservation")
        ),
        migrations.RunSQL(TOTALS.read_text(), migrations.RunSQL.noop),
    ]

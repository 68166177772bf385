"""What the caps of talk keep out waits in its job, and an erasure empties it."""

from pathlib import Path

from django.db import migrations, models

import audit

ERASURE = Path(audit.__file__).parent / "sql" / "erasure.sql"


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0002_revisions"),
        ("teams", "0001_schema"),
        ("audit", "0002_guarantees"),
    ]

    operations = [
        migrations.AddField(
            model_name="job",
            name="waiting",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="Those candidates, until a later run writes them.",
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="written_on",
            field=models.DateField(
                blank=True, help_text="The last day (UTC) on which it wrote memories.", null=True
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="written_that_day",
            field=models.PositiveIntegerField(
                default=0, help_text="How many memories it wrote on that day."
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("left_out__gt", 0), ("state", "done")),
                fields=["team", "lease_until"],
                name="job_with_left_out",
            ),
        ),
        # In a database of before this migration the function leaves what waits readable.
        migrations.RunSQL(ERASURE.read_text(), migrations.RunSQL.noop),
    ]

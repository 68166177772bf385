"""Jobs, consolidations and imports are run under a lock and have a time at which they are due."""

from pathlib import Path

from django.db import migrations, models
from django.db.models.functions import Now

import audit

SQL = Path(__file__).parent.parent / "sql" / "due_jobs.sql"
ERASURE = Path(audit.__file__).parent / "sql" / "erasure.sql"
INDEXES = (
    ("job", "job_unfinished"),
    ("job", "job_with_left_out"),
    ("consolidationrun", "consolidation_unfinished"),
    ("importrun", "import_unfinished"),
)
GONE = (
    ("job", "claim"),
    ("job", "lease_until"),
    ("job", "queued_at"),
    ("consolidationrun", "claim"),
    ("consolidationrun", "lease_until"),
    ("importrun", "claim"),
    ("importrun", "lease_until"),
)
STATES = [
    ("queued", "Queued"),
    ("running", "Running"),
    ("done", "Done"),
    ("failed", "Failed"),
    ("set_aside", "Skipped"),
]


def unfinished(name: str) -> models.Index:
    return models.Index(
        fields=["team", "due_at"],
        condition=models.Q(state__in=["queued", "running"]),
        name=name,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0033_undone_consent"),
        ("audit", "0007_log_of_new_memories"),
    ]

    operations = [
        migrations.RunSQL(
            "DROP FUNCTION IF EXISTS palimpsest_waiting_jobs()", migrations.RunSQL.noop
        ),
        *(migrations.RemoveIndex(model_name=model, name=name) for model, name in INDEXES),
        *(migrations.RemoveField(model_name=model, name=name) for model, name in GONE),
        migrations.AddField(
            model_name="job",
            name="due_at",
            field=models.DateTimeField(
                db_default=Now(), help_text="It is not run before; by the database's clock."
            ),
        ),
        migrations.AddField(
            model_name="consolidationrun",
            name="due_at",
            field=models.DateTimeField(db_default=Now()),
        ),
        migrations.AddField(
            model_name="importrun",
            name="due_at",
            field=models.DateTimeField(db_default=Now()),
        ),
        migrations.AlterField(
            model_name="job",
            name="state",
            field=models.CharField(choices=STATES, default="queued", max_length=20),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                fields=["team", "due_at"],
                condition=models.Q(state__in=["queued", "running"])
                | models.Q(left_out__gt=0, state="done"),
                name="job_due",
            ),
        ),
        migrations.AddIndex("consolidationrun", unfinished("consolidation_unfinished")),
        migrations.AddIndex("importrun", unfinished("import_unfinished")),
        migrations.RunSQL(SQL.read_text(), "DROP FUNCTION palimpsest_due_jobs()"),
        migrations.RunSQL(ERASURE.read_text(), migrations.RunSQL.noop),
    ]

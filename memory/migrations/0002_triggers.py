"""Triggers that stand on the log and the revisions."""

from django.db import migrations

from teams.tenancy_sql import owners_triggers, sql_files


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial"), ("audit", "0002_guarantees")]
    operations = [
        *sql_files(
            __file__,
            "shown_revision",
            "external_names",
            "memory_forms",
            "memory_levels",
            "purge",
            "audience",
        ),
        owners_triggers(),
    ]

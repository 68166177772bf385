"""OAuth: grants end with the role of their login."""

from django.db import migrations

from teams.tenancy_sql import owners_triggers, sql_files


class Migration(migrations.Migration):

    dependencies = [
        ("oauth", "0001_initial"),
        ("audit", "0002_guarantees"),
    ]

    operations = [*sql_files(__file__, "ended_roles"), owners_triggers()]

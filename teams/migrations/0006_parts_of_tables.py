"""Triggers that also work on the parts of a table that Citus distributes."""

from django.db import migrations

from teams.tenancy_sql import sql_files


class Migration(migrations.Migration):
    dependencies = [("teams", "0005_sources")]
    operations = [*sql_files(__file__, "parts_of_tables")]

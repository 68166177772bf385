"""Triggers and partitions that also work in a database that Citus distributes."""

from django.db import migrations

from teams.tenancy_sql import sql_files


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_guarantees")]
    operations = [*sql_files(__file__, "parts_of_tables")]

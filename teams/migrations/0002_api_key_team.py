"""The team's slug with the holder of a key, for the log of requests."""

from django.db import migrations

from teams.tenancy_sql import sql_files


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0001_initial'),
    ]

    operations = sql_files(__file__, "api_key_team")

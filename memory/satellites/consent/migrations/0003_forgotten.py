"""Erased memories take along the consent requests that hold their text."""

from django.db import migrations

from teams.tenancy_sql import sql_files


class Migration(migrations.Migration):

    dependencies = [
        ('consent', '0002_later'),
    ]

    operations = [*sql_files(__file__, "forgotten")]

"""Jobs that rest until the next day are no longer counted among those that wait."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0023_defaults_for_older_servers'),
    ]

    operations = []

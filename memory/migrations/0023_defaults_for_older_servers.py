"""Defaults in the database, so that servers of 0.1.0 can write while an upgrade goes on."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0021_windows_set_aside'),
    ]

    operations = [
        migrations.AlterField(
            model_name='job',
            name='waiting',
            field=models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list, help_text='Those candidates, until a later run writes them.'),
        ),
        migrations.AlterField(
            model_name='job',
            name='written_that_day',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text='How many memories it wrote on that day.'),
        ),
    ]

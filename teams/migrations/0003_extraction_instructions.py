"""Instructions of teams and agents on what to extract, kept with their versions."""

import django.core.validators
from django.db import migrations, models

from teams.tenancy_sql import sql_files


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0002_api_key_team'),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='extraction_instructions',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='team',
            name='extraction_instructions',
            field=models.TextField(blank=True, db_default='', default='', help_text='What to look for and what to leave out when memories are extracted from what is said. Only a language model reads them.', max_length=2000, validators=[django.core.validators.MaxLengthValidator(2000)]),
        ),
        *sql_files(__file__, "extraction_instructions"),
    ]

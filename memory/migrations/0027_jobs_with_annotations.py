"""Jobs hold tags and an end for the memories that they make, and an erasure empties the tags."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

import audit

ERASURE = Path(audit.__file__).parent / "sql" / "erasure.sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0026_imports'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='tags',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, db_default=models.Value([]), default=list, help_text="Tags of every memory that it makes, beside the memory's own.", size=None),
        ),
        migrations.AddField(
            model_name='job',
            name='valid_to',
            field=models.DateTimeField(blank=True, help_text='When every memory that it makes ends at the latest.', null=True),
        ),
        migrations.RunSQL(ERASURE.read_text(), migrations.RunSQL.noop),
    ]

"""Artifacts tell the lines that were changed in them, and files are found by their names."""

from pathlib import Path

from django.db import migrations, models

MEMORY_SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0011_memory_levels'),
    ]

    operations = [
        migrations.AddField(
            model_name='memoryartifact',
            name='name',
            field=models.CharField(db_default='', default='', max_length=500),
        ),
        migrations.AddField(
            model_name='memoryartifact',
            name='added',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='memoryartifact',
            name='removed',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='memoryartifact',
            name='breadth',
            field=models.PositiveIntegerField(db_default=1, default=1),
        ),
        migrations.RunSQL(
            (MEMORY_SQL / "artifact_lines.sql").read_text(), migrations.RunSQL.noop
        ),
        migrations.AddIndex(
            model_name='memoryartifact',
            index=models.Index(fields=['team', 'kind', 'name', 'memory'], name='memory_by_artifact_name'),
        ),
        migrations.AddIndex(
            model_name='memoryartifact',
            index=models.Index(fields=['team', 'kind', 'memory'], name='memory_artifacts_by_kind'),
        ),
    ]

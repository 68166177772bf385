"""Imports of files from other systems."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import owners_triggers, sql_files, tenant_references, tenant_table


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('audit', '0002_guarantees'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='ImportRun',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('format', models.CharField(max_length=20)),
                ('does_extract', models.BooleanField(default=True, verbose_name='memories are extracted')),
                ('actor', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=20)),
                ('total', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('new', models.PositiveIntegerField(default=0)),
                ('failed', models.PositiveIntegerField(default=0)),
                ('errors', models.JSONField(blank=True, default=list)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'import', 'db_table': 'memory_importrun',
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['team', 'due_at'], name='import_unfinished')],
            },
        ),
        migrations.CreateModel(
            name='ImportBatch',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('items', models.JSONField()),
                ('users', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), default=list, size=None)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('run', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='batches', to='transfer.importrun')),
            ],
            options={
                'db_table': 'memory_importbatch',
                'ordering': ['run', 'number'],
                'constraints': [models.UniqueConstraint(fields=('team', 'run', 'number'), name='import_batch_once')],
            },
        ),
        tenant_table("memory_importrun", rights="SELECT, INSERT, UPDATE"),
        # A batch keeps its row while items leave it: an erasure that waits for the row then sees
        # what is left, where one that was written anew would be passed over.
        tenant_table("memory_importbatch", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_references("memory_importbatch", [("run_id", "memory_importrun")]),
        *sql_files(__file__, "import_batches"),
        owners_triggers(),
    ]

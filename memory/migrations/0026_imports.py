"""Imports of files from other systems."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import tenant_references, tenant_table

SQL = Path(__file__).parent.parent / "sql" / "import_batches.sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0025_graph_states'),
        ('teams', '0013_key_rotated_at'),
        ('audit', '0007_log_of_new_memories'),
    ]

    operations = [
        migrations.CreateModel(
            name='ImportRun',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('format', models.CharField(max_length=20)),
                ('does_extract', models.BooleanField(default=True)),
                ('actor', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=20)),
                ('total', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('new', models.PositiveIntegerField(default=0)),
                ('failed', models.PositiveIntegerField(default=0)),
                ('errors', models.JSONField(blank=True, default=list)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-id'],
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
                ('run', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='batches', to='memory.importrun')),
            ],
            options={
                'ordering': ['run', 'number'],
            },
        ),
        migrations.AddIndex(
            model_name='importrun',
            index=models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['team', 'lease_until'], name='import_unfinished'),
        ),
        migrations.AddConstraint(
            model_name='importbatch',
            constraint=models.UniqueConstraint(fields=('team', 'run', 'number'), name='import_batch_once'),
        ),
        tenant_table("memory_importrun", rights="SELECT, INSERT, UPDATE"),
        tenant_table("memory_importbatch", rights="SELECT, INSERT, DELETE"),
        tenant_references("memory_importbatch", [("run_id", "memory_importrun")]),
        migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop),
    ]

"""Recorded workflows."""

import django.db.models.deletion
import django.utils.timezone
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import owners_triggers, sql_files, tenant_references, tenant_table


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('audit', '0002_guarantees'),
        ('memory', '0001_initial'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='WorkflowRecording',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('trigger', models.CharField(max_length=200)),
                ('steps', models.JSONField(blank=True, default=list)),
                ('state', models.CharField(choices=[('recording', 'Recording'), ('finished', 'Finished'), ('discarded', 'Discarded')], default='recording', max_length=20)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('author', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('memory', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('project', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.project')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'db_table': 'memory_workflowrecording',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['team', 'state'], name='workflow_recording_by_state')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('state', 'recording')), models.Q(('ended_at__isnull', False), ('state__in', ['finished', 'discarded'])), _connector='OR'), name='workflow_recording_state_known')],
            },
        ),
        tenant_table("memory_workflowrecording", rights="SELECT, INSERT, UPDATE"),
        tenant_references(
            "memory_workflowrecording",
            [
                ("agent_id", "teams_agent"),
                ("author_id", "teams_agent"),
                ("project_id", "teams_project"),
                ("memory_id", "memory_memory"),
            ],
        ),
        *sql_files(__file__, "recordings"),
        owners_triggers(),
    ]

"""Recordings of workflows, and consent requests that propose one."""

from pathlib import Path

import audit
import django.db.models.deletion
import django.utils.timezone
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import tenant_references, tenant_table

AUDIT_SQL = Path(audit.__file__).parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0012_lines_of_artifacts'),
        ('teams', '0007_context_settings'),
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
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='consentrequest',
            name='consent_state_known',
        ),
        migrations.AlterField(
            model_name='consentrequest',
            name='kind',
            field=models.CharField(choices=[('profile_field', 'Profile field'), ('team_preference', 'Team preference'), ('workflow', 'Workflow')], default='profile_field', max_length=20),
        ),
        migrations.AddConstraint(
            model_name='consentrequest',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'workflow'), ('state', 'waiting')), fields=('team', 'agent', 'value_key'), name='consent_workflow_once'),
        ),
        migrations.AddConstraint(
            model_name='consentrequest',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['profile_field', 'team_preference', 'workflow']), ('state__in', ['waiting', 'approved', 'rejected', 'expired'])), name='consent_state_known'),
        ),
        migrations.AddField(
            model_name='workflowrecording',
            name='agent',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent'),
        ),
        migrations.AddField(
            model_name='workflowrecording',
            name='author',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent'),
        ),
        migrations.AddField(
            model_name='workflowrecording',
            name='memory',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory'),
        ),
        migrations.AddField(
            model_name='workflowrecording',
            name='project',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.project'),
        ),
        migrations.AddField(
            model_name='workflowrecording',
            name='team',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team'),
        ),
        migrations.AddIndex(
            model_name='workflowrecording',
            index=models.Index(fields=['team', 'state'], name='workflow_recording_by_state'),
        ),
        migrations.AddConstraint(
            model_name='workflowrecording',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('state', 'recording')), models.Q(('ended_at__isnull', False), ('state__in', ['finished', 'discarded'])), _connector='OR'), name='workflow_recording_state_known'),
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
        migrations.RunSQL(
            (AUDIT_SQL / "forget_statistics.sql").read_text(), migrations.RunSQL.noop
        ),
    ]

"""Consent requests."""

import django.contrib.postgres.fields
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
            name='ConsentRequest',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('profile_field', 'Profile field'), ('team_preference', 'Team preference'), ('workflow', 'Workflow'), ('team_fact', 'Team fact')], default='profile_field', max_length=20)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('approved', 'Approved'), ('rejected', 'Rejected'), ('expired', 'Expired')], default='waiting', max_length=20)),
                ('field', models.CharField(blank=True, default='', max_length=200)),
                ('content', models.TextField()),
                ('value_key', models.BinaryField(max_length=32)),
                ('category', models.CharField(blank=True, default='', max_length=100)),
                ('draft', models.JSONField(blank=True, default=dict)),
                ('needs_person', models.BooleanField(default=True)),
                ('source_message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, default=list, size=None)),
                ('signals', models.JSONField(blank=True, default=list)),
                ('proposed_by', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('decided_by', models.CharField(blank=True, default='', max_length=200)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('note', models.TextField(blank=True, default='')),
                ('commit_id', models.BigIntegerField(editable=False, null=True)),
                ('first_seq', models.BigIntegerField(editable=False, null=True)),
                ('last_seq', models.BigIntegerField(editable=False, null=True)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('heard_by', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('memory', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('present', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'consent request',
                'db_table': 'memory_consentrequest',
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['team', 'created_at'], name='consent_waiting'), models.Index(fields=['team', 'created_at'], name='consent_by_age'), models.Index(fields=['team', 'end_user'], name='consent_by_person'), models.Index(condition=models.Q(('memory__isnull', False)), fields=['team', 'memory'], name='consent_by_memory')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('team', 'end_user', 'kind', 'field', 'value_key'), name='consent_waiting_once'), models.UniqueConstraint(condition=models.Q(('kind', 'workflow'), ('state', 'waiting')), fields=('team', 'agent', 'value_key'), name='consent_workflow_once'), models.UniqueConstraint(condition=models.Q(('kind', 'team_fact'), ('state', 'waiting')), fields=('team', 'value_key'), name='consent_team_fact_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['profile_field', 'team_preference', 'workflow', 'team_fact']), ('state__in', ['waiting', 'approved', 'rejected', 'expired'])), name='consent_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('state', 'waiting')), models.Q(models.Q(('state', 'waiting'), _negated=True), ('decided_at__isnull', False)), _connector='OR'), name='consent_decided_whole')],
            },
        ),
        tenant_table("memory_consentrequest", rights="SELECT, INSERT, UPDATE"),
        tenant_references(
            "memory_consentrequest",
            [
                ("end_user_id", "teams_enduser"),
                ("agent_id", "teams_agent"),
                ("heard_by_id", "teams_agent"),
                ("present_id", "memory_memory"),
                ("memory_id", "memory_memory"),
            ],
            at_commit=True,
        ),
        *sql_files(__file__, "people"),
        owners_triggers(),
    ]

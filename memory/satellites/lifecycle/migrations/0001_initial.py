"""Consolidation runs, their changes, and pairs that were judged."""

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
        ('memory', '0001_initial'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='ConsolidationRun',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('steps', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('deduplicate', 'deduplicate'), ('compress', 'compress'), ('rank', 'rank'), ('contradictions', 'contradictions'), ('forget', 'forget'), ('link', 'link')], max_length=20), size=None)),
                ('is_dry', models.BooleanField(default=False, verbose_name='dry run')),
                ('actor', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('undone', 'Undone')], default='queued', max_length=20)),
                ('is_planned', models.BooleanField(default=False)),
                ('cursor', models.JSONField(blank=True, default=dict)),
                ('counts', models.JSONField(blank=True, default=dict)),
                ('judged', models.PositiveIntegerField(default=0, verbose_name='pairs judged')),
                ('cost_usd', models.DecimalField(decimal_places=6, default=0, max_digits=12, verbose_name='cost (USD)')),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('error', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('undone_by', models.CharField(blank=True, default='', max_length=200)),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('project', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.project')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'db_table': 'memory_consolidationrun',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['team', '-created_at'], name='consolidation_by_time'), models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['team', 'due_at'], name='consolidation_unfinished')],
            },
        ),
        migrations.CreateModel(
            name='ConsolidationChange',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('position', models.PositiveIntegerField()),
                ('step', models.CharField(choices=[('deduplicate', 'deduplicate'), ('compress', 'compress'), ('rank', 'rank'), ('contradictions', 'contradictions'), ('forget', 'forget'), ('link', 'link')], max_length=20)),
                ('kind', models.CharField(max_length=20)),
                ('before', models.JSONField(default=dict)),
                ('after', models.JSONField(default=dict)),
                ('because', models.CharField(max_length=300, verbose_name='reason')),
                ('state', models.CharField(choices=[('planned', 'Planned'), ('made', 'Made'), ('left_out', 'Skipped')], default='planned', max_length=20)),
                ('note', models.CharField(blank=True, default='', max_length=300)),
                ('result', models.JSONField(default=dict)),
                ('commit_id', models.BigIntegerField(editable=False, null=True)),
                ('first_seq', models.BigIntegerField(editable=False, null=True)),
                ('last_seq', models.BigIntegerField(editable=False, null=True)),
                ('memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('other', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('run', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='lifecycle.consolidationrun')),
            ],
            options={
                'db_table': 'memory_consolidationchange',
                'ordering': ['run', 'position'],
                'indexes': [models.Index(fields=['team', 'run', 'memory'], name='consolidation_by_memory'), models.Index(condition=models.Q(('other__isnull', False)), fields=['team', 'run', 'other'], name='consolidation_by_other'), models.Index(fields=['team', 'memory'], name='consolidation_of_memory'), models.Index(condition=models.Q(('other__isnull', False)), fields=['team', 'other'], name='consolidation_of_other')],
                'constraints': [models.UniqueConstraint(fields=('team', 'run', 'position'), name='consolidation_change_once')],
            },
        ),
        migrations.CreateModel(
            name='JudgedPair',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('similarity', models.DecimalField(decimal_places=2, max_digits=4)),
                ('verdict', models.CharField(choices=[('supersede', 'supersede'), ('dispute', 'dispute'), ('coexist', 'coexist'), ('duplicate', 'duplicate')], max_length=20)),
                ('confidence', models.FloatField()),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('judge', models.CharField(max_length=200)),
                ('judged_at', models.DateTimeField()),
                ('earlier', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('end_user', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser')),
                ('later', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'db_table': 'memory_judgedpair',
                'indexes': [models.Index(fields=['team', 'end_user', 'judged_at'], name='judged_pairs_of_person'), models.Index(fields=['team', 'later'], name='judged_pairs_by_later')],
                'constraints': [models.UniqueConstraint(fields=('team', 'earlier', 'later', 'similarity'), name='judged_pair_once')],
            },
        ),
        tenant_table("memory_consolidationrun", rights="SELECT, INSERT, UPDATE"),
        tenant_table("memory_consolidationchange", rights="SELECT, INSERT, UPDATE"),
        tenant_table("memory_judgedpair", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_references(
            "memory_consolidationrun",
            [("end_user_id", "teams_enduser"), ("project_id", "teams_project")],
        ),
        tenant_references(
            "memory_consolidationchange",
            [
                ("run_id", "memory_consolidationrun"),
                ("memory_id", "memory_memory"),
                ("other_id", "memory_memory"),
            ],
        ),
        tenant_references(
            "memory_judgedpair",
            [
                ("earlier_id", "memory_memory"),
                ("later_id", "memory_memory"),
                ("end_user_id", "teams_enduser"),
            ],
        ),
        *sql_files(__file__, "consolidation"),
        owners_triggers(),
    ]

"""Tables of graphs of agents: threads, checkpoints, values, writes, and items of a store."""

import django.db.models.deletion
import django.utils.timezone
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import owners_triggers, sql_files, tenant_references, tenant_table

# What belongs to a thread goes with it.
OF_THREADS = ("memory_graphcheckpoint", "memory_channelvalue", "memory_pendingwrite")


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('audit', '0002_guarantees'),
        ('memory', '0001_initial'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='GraphThread',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('thread_id', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'db_table': 'memory_graphthread',
                'indexes': [models.Index(condition=models.Q(('end_user__isnull', False)), fields=['team', 'end_user'], name='graph_thread_by_user')],
                'constraints': [models.UniqueConstraint(fields=('team', 'agent', 'thread_id'), name='graph_thread_once', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='GraphCheckpoint',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('namespace', models.CharField(blank=True, db_collation='C', max_length=400)),
                ('checkpoint_id', models.CharField(blank=True, db_collation='C', max_length=60)),
                ('parent_id', models.CharField(blank=True, db_collation='C', max_length=60)),
                ('run_id', models.CharField(blank=True, db_collation='C', max_length=200)),
                ('channels', models.JSONField(default=dict)),
                ('metadata', models.JSONField(default=dict)),
                ('data', models.TextField()),
                ('size', models.PositiveBigIntegerField()),
                ('needs_ancestors', models.BooleanField(default=False)),
                ('saved_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('thread', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='langgraph.graphthread')),
            ],
            options={
                'db_table': 'memory_graphcheckpoint',
                'indexes': [models.Index(condition=models.Q(('run_id', ''), _negated=True), fields=['team', 'run_id'], name='graph_checkpoint_by_run'), models.Index(fields=['team', '-checkpoint_id'], name='graph_checkpoint_by_id')],
                'constraints': [models.UniqueConstraint(fields=('team', 'thread', 'namespace', 'checkpoint_id'), name='graph_checkpoint_once')],
            },
        ),
        migrations.CreateModel(
            name='ChannelValue',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('namespace', models.CharField(blank=True, db_collation='C', max_length=400)),
                ('channel', models.CharField(blank=True, db_collation='C', max_length=180)),
                ('version', models.CharField(blank=True, db_collation='C', max_length=60)),
                ('kind', models.CharField(max_length=50)),
                ('value', models.BinaryField()),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('thread', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='langgraph.graphthread')),
            ],
            options={
                'db_table': 'memory_channelvalue',
                'constraints': [models.UniqueConstraint(fields=('team', 'thread', 'namespace', 'channel', 'version'), name='graph_channel_value_once')],
            },
        ),
        migrations.CreateModel(
            name='PendingWrite',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('namespace', models.CharField(blank=True, db_collation='C', max_length=400)),
                ('checkpoint_id', models.CharField(blank=True, db_collation='C', max_length=60)),
                ('task_id', models.CharField(blank=True, db_collation='C', max_length=60)),
                ('task_path', models.CharField(blank=True, db_collation='C', max_length=1000)),
                ('index', models.IntegerField()),
                ('channel', models.CharField(blank=True, db_collation='C', max_length=180)),
                ('kind', models.CharField(max_length=50)),
                ('value', models.BinaryField()),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('thread', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='langgraph.graphthread')),
            ],
            options={
                'db_table': 'memory_pendingwrite',
                'constraints': [models.UniqueConstraint(fields=('team', 'thread', 'namespace', 'checkpoint_id', 'task_id', 'index'), name='graph_pending_write_once')],
            },
        ),
        migrations.CreateModel(
            name='StoreItem',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('path', models.CharField(blank=True, db_collation='C', max_length=400)),
                ('key', models.CharField(blank=True, db_collation='C', max_length=200)),
                ('value', models.JSONField()),
                ('size', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('ttl_minutes', models.FloatField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser')),
                ('memory', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('project', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.project')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'db_table': 'memory_storeitem',
                'indexes': [models.Index(condition=models.Q(('expires_at__isnull', False)), fields=['team', 'expires_at'], name='store_item_by_expiry'), models.Index(condition=models.Q(('memory__isnull', False)), fields=['team', 'memory'], name='store_item_by_memory'), models.Index(condition=models.Q(('end_user__isnull', False)), fields=['team', 'end_user'], name='store_item_by_user')],
                'constraints': [models.UniqueConstraint(fields=('team', 'path', 'key'), name='store_item_once')],
            },
        ),
        *(
            tenant_table(table, rights="SELECT, INSERT, UPDATE, DELETE")
            for table in ("memory_graphthread", *OF_THREADS, "memory_storeitem")
        ),
        tenant_references(
            "memory_graphthread", [("agent_id", "teams_agent"), ("end_user_id", "teams_enduser")]
        ),
        *(
            migrations.RunSQL(
                f"ALTER TABLE {table} ADD CONSTRAINT {table}_thread_id_same_team"
                " FOREIGN KEY (team_id, thread_id) REFERENCES memory_graphthread (team_id, id)"
                " ON DELETE CASCADE",
                migrations.RunSQL.noop,
            )
            for table in OF_THREADS
        ),
        tenant_references(
            "memory_storeitem",
            [
                ("agent_id", "teams_agent"),
                ("end_user_id", "teams_enduser"),
                ("project_id", "teams_project"),
                ("memory_id", "memory_memory"),
            ],
        ),
        *sql_files(__file__, "people_of_graphs"),
        owners_triggers(),
    ]

"""The log, its commits and seals, revisions, erasure and operational events."""

import django.db.models.deletion
import django.utils.timezone
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import APP_ROLE, append_only, tenant_table


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='TeamRevision',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('memories', models.BigIntegerField()),
                ('messages', models.BigIntegerField()),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'team revision',
            },
        ),
        migrations.CreateModel(
            name='WrittenBatch',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'written batches',
            },
        ),
        migrations.CreateModel(
            name='CommitClock',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('position', models.BigIntegerField()),
                ('at', models.DateTimeField()),
                ('last_seq', models.BigIntegerField()),
                ('last_memory_id', models.UUIDField()),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team',), name='commit_clock_of_team')],
            },
        ),
        migrations.CreateModel(
            name='Erasure',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('end_user_id', models.UUIDField(null=True)),
                ('actor', models.CharField(max_length=200)),
                ('reason', models.TextField(blank=True, default='')),
                ('counts', models.JSONField(default=dict)),
                ('at', models.DateTimeField()),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-at'],
                'constraints': [models.UniqueConstraint(fields=('team', 'end_user_id'), name='erasure_once')],
            },
        ),
        migrations.CreateModel(
            name='LogCommit',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('transaction_number', models.BigIntegerField()),
                ('began_at', models.DateTimeField()),
                ('is_last', models.BooleanField()),
                ('position', models.BigIntegerField(null=True)),
                ('at', models.DateTimeField(null=True)),
                ('last_seq', models.BigIntegerField(null=True)),
                ('last_memory_id', models.UUIDField(null=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'commit',
                'ordering': ['-position'],
                'indexes': [models.Index(fields=['team', 'at'], name='commit_by_time'), models.Index(condition=models.Q(('at__isnull', True)), fields=['transaction_number'], name='commit_under_way')],
                'constraints': [models.UniqueConstraint(fields=('team', 'transaction_number', 'began_at'), name='commit_of_transaction'), models.UniqueConstraint(fields=('team', 'position'), name='commit_position_once')],
            },
        ),
        migrations.CreateModel(
            name='MemoryLog',
            fields=[
                ('seq', models.BigAutoField(primary_key=True, serialize=False)),
                ('memory_id', models.UUIDField()),
                ('event', models.CharField(max_length=40)),
                ('actor', models.CharField(max_length=200)),
                ('reason', models.TextField(blank=True, default='')),
                ('state', models.JSONField()),
                ('digest', models.BinaryField(max_length=32)),
                ('conversation_id', models.UUIDField(null=True)),
                ('revision', models.BigIntegerField(null=True)),
                ('at', models.DateTimeField()),
                ('commit_id', models.BigIntegerField(editable=False)),
                ('is_first', models.BooleanField(editable=False)),
                ('new_end_user_id', models.UUIDField(editable=False, null=True)),
                ('detail', models.JSONField(editable=False, null=True)),
                ('reason_salt', models.BinaryField(max_length=16, null=True)),
                ('reason_digest', models.BinaryField(max_length=32, null=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'log entry',
                'verbose_name_plural': 'log entries',
                'ordering': ['-seq'],
                'indexes': [models.Index(fields=['team', 'seq'], name='memory_log_by_number'), models.Index(fields=['team', 'memory_id', 'seq'], name='memory_log_by_memory'), models.Index(fields=['team', 'at'], name='memory_log_by_time'), models.Index(fields=['team', 'event', 'seq'], name='memory_log_by_event'), models.Index(fields=['team', 'actor', 'seq'], name='memory_log_by_actor'), models.Index(fields=['team', 'conversation_id', 'revision'], name='memory_log_by_revision'), models.Index(fields=['team', 'commit_id', 'memory_id'], name='memory_log_by_commit'), models.Index(condition=models.Q(('is_first', True)), fields=['team', 'memory_id'], include=('seq',), name='memory_log_of_births'), models.Index(condition=models.Q(('new_end_user_id__isnull', False)), fields=['team', 'new_end_user_id', 'memory_id'], name='memory_log_of_people')],
            },
        ),
        migrations.CreateModel(
            name='OperationalEvent',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('node', models.CharField(max_length=40)),
                ('op', models.CharField(max_length=40)),
                ('status', models.CharField(max_length=20)),
                ('memory_id', models.UUIDField(null=True)),
                ('end_user_id', models.UUIDField(null=True)),
                ('conversation_id', models.UUIDField(null=True)),
                ('similarity', models.FloatField(null=True)),
                ('meta', models.JSONField(default=dict)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['team', '-at'], name='event_by_time'), models.Index(fields=['team', 'op', '-at'], name='event_by_op')],
            },
        ),
        migrations.CreateModel(
            name='Seal',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveBigIntegerField()),
                ('after_seq', models.BigIntegerField()),
                ('last_seq', models.BigIntegerField()),
                ('rows', models.PositiveIntegerField()),
                ('leaves', models.BinaryField()),
                ('key_id', models.CharField(max_length=16)),
                ('digest', models.BinaryField(max_length=32)),
                ('sealed_at', models.DateTimeField()),
                ('upto_position', models.BigIntegerField(null=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-number'],
                'indexes': [models.Index(fields=['team', 'upto_position'], name='seal_by_position')],
                'constraints': [models.UniqueConstraint(fields=('team', 'number'), name='seal_number_once')],
            },
        ),
        tenant_table("audit_memorylog", rights="SELECT", key="seq"),
        tenant_table("audit_logcommit", rights="SELECT"),
        tenant_table("audit_commitclock", rights="SELECT"),
        tenant_table("audit_seal", rights="SELECT, INSERT"),
        tenant_table("audit_erasure", rights="SELECT"),
        tenant_table("audit_teamrevision", rights="SELECT"),
        tenant_table("audit_operationalevent", rights="SELECT, INSERT"),
        tenant_table("audit_writtenbatch", rights="SELECT, INSERT, DELETE"),
        *map(append_only, ("audit_memorylog", "audit_seal", "audit_erasure")),
        migrations.RunSQL(
            # Tells the transaction that is erasing; written by the database alone.
            "ALTER TABLE audit_erasure ADD COLUMN xact xid8 NOT NULL DEFAULT pg_current_xact_id();"
            "CREATE INDEX audit_erasure_by_xact ON audit_erasure (xact);"
            "ALTER TABLE audit_memorylog ALTER is_first SET DEFAULT false;"
            # Room for new versions of a row on its own page: they cost no entry in the index.
            "ALTER TABLE audit_teamrevision SET (fillfactor = 50);"
            # The log is written by the database's own functions and by nobody else.
            f"REVOKE ALL ON SEQUENCE audit_memorylog_seq_seq FROM {APP_ROLE}",
            migrations.RunSQL.noop,
        ),
    ]

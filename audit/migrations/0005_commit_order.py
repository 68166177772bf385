from pathlib import Path

import django.db.models.deletion

from django.db import migrations, models

import teams.ids
from teams.tenancy_sql import APP_ROLE, tenant_table

SQL = Path(__file__).parent.parent / "sql"

# Of what was logged before, the order of the commits is not known: each row counts as one, in the
# order of their numbers.
BACKFILL = """
INSERT INTO audit_logcommit (team_id, transaction_number, began_at, is_last, position, at, last_seq,
    last_memory_id)
SELECT team_id, -seq, at, true, row_number() OVER team_so_far, max(at) OVER team_so_far, seq,
    -- Only a bound: the greatest of all will do.
    'ffffffff-ffff-ffff-ffff-ffffffffffff'
FROM audit_memorylog WINDOW team_so_far AS (PARTITION BY team_id ORDER BY seq);
INSERT INTO audit_commitclock (id, team_id, position, at, last_seq, last_memory_id)
SELECT DISTINCT ON (team_id) gen_random_uuid(), team_id, position, at, last_seq, last_memory_id
FROM audit_logcommit ORDER BY team_id, position DESC;
ALTER TABLE audit_memorylog DISABLE TRIGGER append_only;
UPDATE audit_memorylog l SET commit_id = c.id
FROM audit_logcommit c WHERE c.team_id = l.team_id AND c.transaction_number = -l.seq;
UPDATE audit_memorylog l
SET is_first = l.event IN ('created', 'versioned'), new_end_user_id = now_about.person
FROM (
    SELECT seq, (state->>'end_user_id')::uuid AS person, lag((state->>'end_user_id')::uuid)
        OVER (PARTITION BY team_id, memory_id ORDER BY seq) AS before FROM audit_memorylog
) AS now_about
WHERE now_about.seq = l.seq
    AND (now_about.person IS DISTINCT FROM now_about.before OR l.event IN ('created', 'versioned'));
-- A second change of a row leaves its references to be checked, and a table is not altered until then.
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE audit_memorylog ENABLE TRIGGER append_only;
ALTER TABLE audit_memorylog ALTER commit_id SET NOT NULL;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0004_seals_and_erasure'),
        ('memory', '0008_message_entries'),
    ]

    operations = [
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
                'indexes': [
                    models.Index(fields=['team', 'at'], name='commit_by_time'),
                    models.Index(condition=models.Q(('at__isnull', True)), fields=['transaction_number'], name='commit_under_way'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('team', 'transaction_number', 'began_at'), name='commit_of_transaction'),
                    models.UniqueConstraint(fields=('team', 'position'), name='commit_position_once'),
                ],
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
                'constraints': [
                    models.UniqueConstraint(fields=('team',), name='commit_clock_of_team'),
                ],
            },
        ),
        tenant_table("audit_logcommit", rights="SELECT"),
        tenant_table("audit_commitclock", rights="SELECT"),
        migrations.RunSQL(
            """
            ALTER TABLE audit_memorylog
                ADD COLUMN commit_id bigint,
                ADD COLUMN is_first boolean NOT NULL DEFAULT false,
                ADD COLUMN new_end_user_id uuid,
                ADD COLUMN detail jsonb
            """,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.AddField('memorylog', 'commit_id', models.BigIntegerField(editable=False)),
                migrations.AddField('memorylog', 'is_first', models.BooleanField(editable=False)),
                migrations.AddField('memorylog', 'new_end_user_id', models.UUIDField(editable=False, null=True)),
                migrations.AddField('memorylog', 'detail', models.JSONField(editable=False, null=True)),
            ],
        ),
        migrations.RunSQL(BACKFILL, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name='memorylog',
            index=models.Index(fields=['team', 'commit_id', 'memory_id'], name='memory_log_by_commit'),
        ),
        migrations.AddIndex(
            model_name='memorylog',
            index=models.Index(condition=models.Q(('is_first', True)), fields=['team', 'memory_id'], include=('seq',), name='memory_log_of_births'),
        ),
        migrations.AddIndex(
            model_name='memorylog',
            index=models.Index(condition=models.Q(('new_end_user_id__isnull', False)), fields=['team', 'new_end_user_id', 'memory_id'], name='memory_log_of_people'),
        ),
        # A database from before has older functions of these names.
        migrations.RunSQL((SQL / "memory_log.sql").read_text(), migrations.RunSQL.noop),
        migrations.RunSQL((SQL / "commit_order.sql").read_text(), migrations.RunSQL.noop),
        # The log is written by the database's own functions and by nobody else.
        migrations.RunSQL(
            f"REVOKE INSERT ON audit_memorylog FROM {APP_ROLE};"
            f"REVOKE ALL ON SEQUENCE audit_memorylog_seq_seq FROM {APP_ROLE}",
            migrations.RunSQL.noop,
        ),
    ]

from datetime import UTC, datetime
from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion

from django.db import migrations, models

import teams.ids
from teams.tenancy_sql import tenant_references, tenant_table

SQL = Path(__file__).parent.parent / "sql"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Entries from before this migration learn whose they are from their memories.
ADOPT = """
UPDATE memory_searchentry e
SET memory_type = m.memory_type, agent_id = m.agent_id, end_user_id = m.end_user_id,
    project_id = m.project_id, conversation_id = m.conversation_id, said_at = m.created_at,
    held_from = m.valid_from, held_until = m.valid_to,
    position = (
        SELECT min(t.position) FROM teams_message t
        WHERE t.team_id = m.team_id AND t.conversation_id = m.conversation_id
            AND t.id = ANY (m.source_message_ids)
    ),
    place = CASE
        WHEN m.status IN ('active', 'disputed') THEN CASE WHEN m.tier = 'cold' THEN 1 ELSE 0 END
        WHEN m.status = 'soft_deleted' THEN 3 ELSE 2 END
FROM memory_memory m WHERE m.team_id = e.team_id AND m.id = e.memory_id;
UPDATE memory_searchentry e SET position = n.last + n.number
FROM (
    SELECT memory_id, position,
        coalesce(max(position) OVER (PARTITION BY conversation_id), 0) AS last,
        row_number() OVER (PARTITION BY conversation_id, position IS NULL ORDER BY memory_id) AS number
    FROM memory_searchentry WHERE conversation_id IS NOT NULL
) n
WHERE n.memory_id = e.memory_id AND n.position IS NULL;
-- A second change of a row leaves its references to be checked, and a table is not altered until then.
SET CONSTRAINTS ALL IMMEDIATE
"""


def _owner(target: str) -> models.ForeignKey:
    return models.ForeignKey(db_constraint=False, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=target)


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0003_job_is_capped'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.AddField(model_name='searchentry', name='agent', field=_owner('teams.agent')),
        migrations.AddField(model_name='searchentry', name='end_user', field=_owner('teams.enduser')),
        migrations.AddField(model_name='searchentry', name='project', field=_owner('teams.project')),
        migrations.AddField(
            model_name='searchentry',
            name='graph_dimensions',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AddField(
            model_name='searchentry',
            name='graph_number',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AddField(
            model_name='searchentry',
            name='memory_type',
            field=models.CharField(choices=[('semantic', 'semantic'), ('episodic', 'episodic'), ('procedural', 'procedural'), ('agent_private', 'agent_private'), ('shared', 'shared'), ('identity', 'identity'), ('user_profile', 'user_profile'), ('insight', 'insight')], default='', editable=False, max_length=20),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='searchentry',
            name='place',
            field=models.PositiveSmallIntegerField(choices=[(0, 'found by default'), (1, 'live, but cold'), (2, 'superseded or archived'), (3, 'deleted')], db_default=0, default=0, editable=False),
        ),
        migrations.AddField(model_name='searchentry', name='conversation', field=_owner('teams.conversation')),
        migrations.AddField(
            model_name='searchentry',
            name='position',
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='searchentry',
            name='said_at',
            field=models.DateTimeField(default=EPOCH, editable=False),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='searchentry',
            name='held_from',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='searchentry',
            name='held_until',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='searchentry',
            name='people',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_default=models.Value([]), default=list, size=None),
        ),
        migrations.RunSQL(ADOPT, reverse_sql=migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name='searchentry',
            index=models.Index(condition=models.Q(('conversation__isnull', False)), fields=['team', 'conversation', 'position'], name='memory_search_in_conversation'),
        ),
        migrations.AddIndex(
            model_name='searchentry',
            index=models.Index(fields=['team', 'end_user', 'place', 'memory'], name='memory_search_by_owner'),
        ),
        migrations.AddIndex(
            model_name='searchentry',
            index=models.Index(condition=models.Q(('graph_dimensions', 0)), fields=['team', 'end_user', 'place'], name='memory_search_outside_graph'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('importance__gte', 7), ('status__in', ('active', 'disputed')), models.Q(('tier', 'cold'), _negated=True)), fields=['team', 'end_user', '-importance', '-id'], name='memory_important'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('importance__gte', 7), ('status__in', ('active', 'disputed')), models.Q(('tier', 'cold'), _negated=True)), fields=['team', '-importance', '-id'], name='memory_important_of_all'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('status__in', ('active', 'disputed')), models.Q(('tier', 'cold'), _negated=True), models.Q(('is_pinned', True), ('memory_type__in', ['identity', 'user_profile']), _connector='OR')), fields=['team', 'end_user'], name='memory_mandatory'),
        ),
        migrations.CreateModel(
            name='SearchGraph',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('dimensions', models.PositiveSmallIntegerField()),
                ('number', models.PositiveSmallIntegerField()),
                ('model', models.CharField(max_length=200)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team',), name='search_graph_once')],
            },
        ),
        # Copies of what the memory's own references hold already, so they cost one lookup in memory.
        tenant_references(
            "memory_searchentry",
            [
                ("agent_id", "teams_agent"),
                ("end_user_id", "teams_enduser"),
                ("project_id", "teams_project"),
                ("conversation_id", "teams_conversation"),
            ],
        ),
        tenant_table("memory_searchgraph", rights="SELECT, INSERT, UPDATE, DELETE"),
        migrations.RunSQL((SQL / "search_layout.sql").read_text()),
    ]

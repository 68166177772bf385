"""Memories, how they are found, jobs and compactions. Triggers that need the log: 0002."""

import datetime
import django.contrib.postgres.fields
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
import pgvector.django.halfvec
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import APP_ROLE, sql_files, tenant_references, tenant_table


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Memory',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('memory_type', models.CharField(choices=[('semantic', 'semantic'), ('episodic', 'episodic'), ('procedural', 'procedural'), ('agent_private', 'agent_private'), ('shared', 'shared'), ('identity', 'identity'), ('user_profile', 'user_profile'), ('insight', 'insight')], max_length=20)),
                ('form', models.CharField(blank=True, default='', max_length=20)),
                ('payload', models.JSONField(blank=True, default=dict)),
                ('audience', models.CharField(choices=[('agent', 'agent'), ('person', 'person'), ('team', 'team')], db_default='agent', default='agent', editable=False, max_length=10)),
                ('scope', models.CharField(choices=[('task', 'task'), ('session', 'session'), ('project', 'project'), ('user', 'user'), ('team', 'team')], max_length=20)),
                ('category', models.CharField(blank=True, default='', max_length=100)),
                ('subject', models.CharField(blank=True, default='', max_length=200)),
                ('content', models.TextField()),
                ('importance', models.PositiveSmallIntegerField()),
                ('confidence', models.FloatField(default=1.0)),
                ('corroboration', models.PositiveIntegerField(default=0, help_text='How often it was said again after it was first stored.')),
                ('is_pinned', models.BooleanField(default=False)),
                ('status', models.CharField(choices=[('active', 'active'), ('disputed', 'disputed'), ('superseded', 'superseded'), ('soft_deleted', 'soft_deleted'), ('purged', 'purged'), ('archived', 'archived')], default='active', max_length=20)),
                ('tier', models.CharField(choices=[('hot', 'hot'), ('warm', 'warm'), ('cold', 'cold')], default='warm', max_length=20)),
                ('version', models.PositiveIntegerField(default=1)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('contradicts', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, default=list, size=None)),
                ('source_message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, default=list, size=None)),
                ('source_external_ids', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
                ('extractor', models.CharField(max_length=200)),
                ('extraction_pass', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('actor', models.CharField(max_length=200)),
                ('external_id', models.CharField(blank=True, max_length=200, null=True)),
                ('dedupe_key', models.BinaryField(max_length=32, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('valid_from', models.DateTimeField(blank=True, null=True)),
                ('valid_to', models.DateTimeField(blank=True, null=True)),
                ('purge_at', models.DateTimeField(blank=True, editable=False, help_text='Until then an expired memory can be restored; what people delete has none.', null=True)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('conversation', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.conversation')),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('project', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.project')),
                ('superseded_by', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('supersedes', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'memories',
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('status__in', ('active', 'disputed'))), fields=['team', 'end_user', 'agent', 'memory_type'], name='memory_live_by_owner'), models.Index(condition=models.Q(('status__in', ('active', 'disputed'))), fields=['team', 'agent', 'memory_type'], name='memory_live_by_agent'), models.Index(condition=models.Q(('status__in', ('active', 'disputed')), ('project__isnull', False)), fields=['team', 'project', 'importance', 'created_at'], name='memory_live_of_project'), models.Index(condition=models.Q(('status__in', ('active', 'disputed')), models.Q(('form', ''), _negated=True)), fields=['team', 'form', '-id'], name='memory_live_by_form'), models.Index(condition=models.Q(('conversation__isnull', False)), fields=['team', 'conversation'], name='memory_by_conversation'), models.Index(condition=models.Q(models.Q(('subject', ''), _negated=True), ('status__in', ('active', 'disputed'))), fields=['team', 'subject'], name='memory_live_by_subject', opclasses=['', 'varchar_pattern_ops']), models.Index(condition=models.Q(('superseded_by__isnull', False)), fields=['team', 'superseded_by'], name='memory_superseded_by'), models.Index(condition=models.Q(('created_at__gt', datetime.datetime(1, 1, 2, 0, 0, tzinfo=datetime.timezone.utc))), fields=['team', '-created_at'], name='memory_by_time'), models.Index(condition=models.Q(('importance__gte', 7), ('status__in', ('active', 'disputed')), models.Q(('tier', 'cold'), _negated=True)), fields=['team', 'end_user', '-importance', '-id'], name='memory_important'), models.Index(condition=models.Q(('importance__gte', 7), ('status__in', ('active', 'disputed')), models.Q(('tier', 'cold'), _negated=True)), fields=['team', '-importance', '-id'], name='memory_important_of_all'), models.Index(condition=models.Q(('status__in', ('active', 'disputed')), models.Q(('tier', 'cold'), _negated=True), models.Q(('is_pinned', True), ('memory_type__in', ['identity', 'user_profile']), _connector='OR')), fields=['team', 'end_user'], name='memory_mandatory'), models.Index(condition=models.Q(('status__in', ('active', 'disputed')), ('importance__lt', 9), ('is_pinned', False), ('tier', 'hot')), fields=['team', 'id'], name='memory_hot_by_use'), models.Index(condition=models.Q(('status', 'superseded'), models.Q(('tier', 'cold'), _negated=True)), fields=['team', 'id'], name='memory_past_not_cold'), models.Index(condition=models.Q(('importance__lt', 8), ('is_pinned', False), ('status', 'active'), models.Q(('tier', 'cold'), _negated=True), ('valid_to__isnull', False)), fields=['team', 'valid_to', 'id'], name='memory_outdated'), models.Index(condition=models.Q(('importance__lt', 8), ('is_pinned', False), ('status', 'active')), fields=['team', 'importance', 'created_at', 'id'], name='memory_unprotected'), models.Index(condition=models.Q(('purge_at__isnull', False), ('status', 'soft_deleted')), fields=['team', 'purge_at'], name='memory_to_purge')],
                'constraints': [models.CheckConstraint(condition=models.Q(('memory_type__in', ['semantic', 'episodic', 'procedural', 'agent_private', 'shared', 'identity', 'user_profile', 'insight'])), name='memory_memory_type_known'), models.CheckConstraint(condition=models.Q(('scope__in', ['task', 'session', 'project', 'user', 'team'])), name='memory_scope_known'), models.CheckConstraint(condition=models.Q(('status__in', ['active', 'disputed', 'superseded', 'soft_deleted', 'purged', 'archived'])), name='memory_status_known'), models.CheckConstraint(condition=models.Q(('tier__in', ['hot', 'warm', 'cold'])), name='memory_tier_known'), models.CheckConstraint(condition=models.Q(('form__in', ['', 'fact', 'episode', 'pattern', 'workflow', 'decision', 'convention', 'failure'])), name='memory_form_known'), models.CheckConstraint(condition=models.Q(('importance__range', (1, 10))), name='memory_importance_range'), models.CheckConstraint(condition=models.Q(('confidence__range', (0.0, 1.0))), name='memory_confidence_range'), models.CheckConstraint(condition=models.Q(('content', ''), _negated=True), name='memory_content_not_empty'), models.CheckConstraint(condition=models.Q(('valid_to__isnull', True), ('valid_from__isnull', True), ('valid_to__gte', models.F('valid_from')), _connector='OR'), name='memory_validity_ordered'), models.CheckConstraint(condition=models.Q(('agent__isnull', False), models.Q(('memory_type__in', ['agent_private', 'identity']), _negated=True), _connector='OR'), name='memory_private_has_agent'), models.CheckConstraint(condition=models.Q(('purge_at__isnull', True), ('status__in', ['soft_deleted', 'purged']), _connector='OR'), name='memory_purge_of_deleted'), models.UniqueConstraint(condition=models.Q(('dedupe_key__isnull', False), ('status__in', ('active', 'disputed'))), fields=('team', 'dedupe_key'), name='memory_fact_once'), models.UniqueConstraint(condition=models.Q(('external_id__isnull', False)), fields=('team', 'agent', 'external_id'), name='memory_external_id_once', nulls_distinct=False), models.UniqueConstraint(condition=models.Q(('supersedes__isnull', False)), fields=('team', 'supersedes'), name='memory_one_successor')],
            },
        ),
        migrations.CreateModel(
            name='EmbeddingState',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ('model', models.CharField(max_length=200)),
                ('dimensions', models.PositiveIntegerField()),
                ('next_model', models.CharField(blank=True, default='', max_length=200)),
                ('switched_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='embedding_state_once')],
            },
        ),
        migrations.CreateModel(
            name='ExternalName',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('external_id', models.CharField(max_length=200)),
                ('text_key', models.BinaryField(max_length=32)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
            ],
            options={
                'verbose_name': 'external name',
                'indexes': [models.Index(fields=['team', 'memory'], name='memory_names_of_memory')],
                'constraints': [models.UniqueConstraint(fields=('team', 'external_id', 'agent'), name='memory_external_name_once', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='Contradiction',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('strategy', models.CharField(choices=[('same_subject', 'same_subject'), ('semantic_opposition', 'semantic_opposition'), ('temporal_override', 'temporal_override'), ('feedback', 'feedback')], max_length=30)),
                ('judge', models.CharField(max_length=200)),
                ('verdict', models.CharField(choices=[('supersede', 'supersede'), ('dispute', 'dispute'), ('coexist', 'coexist')], max_length=20)),
                ('reason', models.TextField(blank=True, default='')),
                ('detected_at', models.DateTimeField(auto_now_add=True)),
                ('resolution', models.CharField(blank=True, choices=[('a_wins', 'a_wins'), ('b_wins', 'b_wins'), ('both_valid', 'both_valid'), ('merged', 'merged')], default='', max_length=20)),
                ('resolution_note', models.TextField(blank=True, default='')),
                ('resolved_by', models.CharField(blank=True, default='', max_length=200)),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('snoozed_until', models.DateTimeField(blank=True, help_text='Until then the review queue leaves it out.', null=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('memory_a', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('memory_b', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
            ],
            options={
                'ordering': ['-detected_at'],
                'indexes': [models.Index(condition=models.Q(('resolved_at__isnull', True)), fields=['team', '-detected_at'], name='contradiction_open'), models.Index(fields=['team', '-detected_at'], name='contradiction_by_time'), models.Index(condition=models.Q(('resolved_at__isnull', False)), fields=['team', '-resolved_at'], name='contradiction_by_settlement'), models.Index(fields=['team', 'memory_a'], name='contradiction_by_earlier'), models.Index(fields=['team', 'memory_b'], name='contradiction_by_later')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('resolved_at__isnull', True)), fields=('team', 'memory_a', 'memory_b'), name='contradiction_open_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('memory_a', models.F('memory_b')), _negated=True), name='contradiction_of_two'), models.CheckConstraint(condition=models.Q(models.Q(('resolution', ''), ('resolved_at__isnull', True)), models.Q(('resolved_at__isnull', False), ('resolution__in', ['a_wins', 'b_wins', 'both_valid', 'merged'])), _connector='OR'), name='contradiction_resolved_whole')],
            },
        ),
        migrations.CreateModel(
            name='Compaction',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('from_position', models.PositiveIntegerField()),
                ('to_position', models.PositiveIntegerField()),
                ('summary', models.TextField()),
                ('points', models.JSONField(blank=True, default=list)),
                ('extraction', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='compactions', to='teams.conversation')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('summary_memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
            ],
            options={
                'ordering': ['conversation', 'to_position'],
                'constraints': [models.UniqueConstraint(fields=('team', 'conversation', 'from_position'), name='compaction_range_once'), models.CheckConstraint(condition=models.Q(('to_position__gte', models.F('from_position'))), name='compaction_range_ordered')],
            },
        ),
        migrations.CreateModel(
            name='MemoryArtifact',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('commit', 'commit'), ('pr', 'pr'), ('adr', 'adr'), ('file', 'file'), ('link', 'link')], max_length=10)),
                ('ref', models.CharField(max_length=500)),
                ('name', models.CharField(db_default='', default='', max_length=500)),
                ('added', models.PositiveIntegerField(null=True)),
                ('removed', models.PositiveIntegerField(null=True)),
                ('breadth', models.PositiveIntegerField(db_default=1, default=1)),
                ('memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='artifact_rows', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'artifact',
                'indexes': [models.Index(fields=['team', 'kind', 'ref', 'memory'], name='memory_by_artifact'), models.Index(fields=['team', 'kind', 'name', 'memory'], name='memory_by_artifact_name'), models.Index(fields=['team', 'kind', 'memory'], name='memory_artifacts_by_kind')],
                'constraints': [models.UniqueConstraint(fields=('team', 'memory', 'kind', 'ref'), name='memory_artifact_once')],
            },
        ),
        migrations.CreateModel(
            name='MemoryRelation',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('relation_type', models.CharField(choices=[('related_to', 'related_to'), ('supersedes', 'supersedes'), ('contradicts', 'contradicts'), ('merged_from', 'merged_from'), ('derived_from', 'derived_from')], default='related_to', max_length=20)),
                ('strength', models.FloatField()),
                ('grounds', models.CharField(blank=True, db_default='', default='', max_length=60)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('from_memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('to_memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
            ],
            options={
                'verbose_name': 'relation',
                'indexes': [models.Index(fields=['team', 'to_memory'], name='memory_relation_by_target'), models.Index(condition=models.Q(('grounds', ''), _negated=True), fields=['team', 'id'], name='memory_relation_discovered')],
                'constraints': [models.UniqueConstraint(fields=('team', 'from_memory', 'to_memory', 'relation_type'), name='memory_relation_once'), models.CheckConstraint(condition=models.Q(('relation_type__in', ['related_to', 'supersedes', 'contradicts', 'merged_from', 'derived_from'])), name='memory_relation_type_known'), models.CheckConstraint(condition=models.Q(('strength__range', (0.0, 1.0))), name='memory_relation_strength'), models.CheckConstraint(condition=models.Q(('from_memory', models.F('to_memory')), _negated=True), name='memory_relation_not_to_itself')],
            },
        ),
        migrations.CreateModel(
            name='MemoryTag',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tag_rows', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'tag',
                'indexes': [models.Index(fields=['team', 'name', 'memory'], name='memory_by_tag')],
                'constraints': [models.UniqueConstraint(fields=('team', 'memory', 'name'), name='memory_tag_once')],
            },
        ),
        migrations.CreateModel(
            name='MessageEntry',
            fields=[
                ('message', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='teams.message')),
                ('position', models.PositiveIntegerField(editable=False)),
                ('said_at', models.DateTimeField(editable=False)),
                ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant'), ('system', 'System'), ('tool', 'Tool')], editable=False, max_length=20)),
                ('people', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_default=models.Value([]), default=list, size=None)),
                ('is_waiting', models.BooleanField(db_default=True, default=True)),
                ('is_forgotten', models.BooleanField(db_default=False, default=False, editable=False)),
                ('audience', models.CharField(choices=[('agent', 'agent'), ('person', 'person'), ('team', 'team')], editable=False, max_length=10, null=True)),
                ('embedding', pgvector.django.halfvec.HalfVectorField(null=True)),
                ('embedding_model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('next_embedding', pgvector.django.halfvec.HalfVectorField(null=True)),
                ('next_model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('lexemes', django.contrib.postgres.search.SearchVectorField(db_default='', default='')),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('conversation', models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.conversation')),
                ('end_user', models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser')),
                ('project', models.ForeignKey(db_constraint=False, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.project')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'message entries',
                'indexes': [models.Index(fields=['team', 'conversation', 'position'], name='memory_message_in_conversation'), models.Index(fields=['team', 'end_user', 'agent'], name='memory_message_by_owner'), models.Index(condition=models.Q(('audience', 'team')), fields=['team', 'message'], name='memory_message_of_team'), models.Index(condition=models.Q(('is_waiting', True)), fields=['team', 'message'], name='memory_message_waiting')],
            },
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
        migrations.CreateModel(
            name='Settlement',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('resolution', models.CharField(choices=[('a_wins', 'a_wins'), ('b_wins', 'b_wins'), ('both_valid', 'both_valid'), ('merged', 'merged')], max_length=20)),
                ('actor', models.CharField(max_length=200)),
                ('settled_at', models.DateTimeField()),
                ('commit_id', models.BigIntegerField(editable=False, null=True)),
                ('first_seq', models.BigIntegerField(editable=False, null=True)),
                ('last_seq', models.BigIntegerField(editable=False, null=True)),
                ('ended', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, default=list, size=None)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('undone_by', models.CharField(blank=True, default='', max_length=200)),
                ('contradiction', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.contradiction')),
                ('merged_memory', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-settled_at'],
                'indexes': [models.Index(fields=['team', 'contradiction', '-settled_at'], name='settlement_by_contradiction')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('undone_at__isnull', True)), fields=('team', 'contradiction'), name='settlement_in_force_once'), models.CheckConstraint(condition=models.Q(('resolution__in', ['a_wins', 'b_wins', 'both_valid', 'merged'])), name='settlement_resolution_known')],
            },
        ),
        migrations.CreateModel(
            name='Category',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('description', models.CharField(blank=True, default='', max_length=500)),
                ('context', models.CharField(choices=[('all', 'All memories of the category'), ('rag', 'Only memories that match the question')], default='rag', max_length=10)),
                ('length', models.PositiveIntegerField(blank=True, help_text='Maximum number of its memories in an answer; empty for no limit.', null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'categories',
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='category_name_once'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='category_name_not_empty'), models.CheckConstraint(condition=models.Q(('context__in', ['all', 'rag'])), name='category_context_known'), models.CheckConstraint(condition=models.Q(('length__isnull', True), ('length__gte', 1), _connector='OR'), name='category_length_positive')],
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('extract', 'Extraction'), ('episode', 'Episode')], db_default='extract', default='extract', max_length=10)),
                ('from_position', models.PositiveIntegerField()),
                ('to_position', models.PositiveIntegerField()),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('set_aside', 'Skipped')], default='queued', max_length=20)),
                ('is_capped', models.BooleanField(default=True, help_text='Whether the caps of talk hold; imports have none.')),
                ('done_position', models.PositiveIntegerField(default=0, help_text='The messages up to here are extracted.')),
                ('left_out', models.PositiveIntegerField(blank=True, help_text='How many candidates the caps kept out; empty before anything was extracted.', null=True)),
                ('waiting', models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list, help_text='Those candidates, until a later run writes them.')),
                ('written_on', models.DateField(blank=True, help_text='The last day (UTC) on which it wrote memories.', null=True)),
                ('written_that_day', models.PositiveIntegerField(db_default=0, default=0, help_text='How many memories it wrote on that day.')),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('one_by_one_to', models.PositiveIntegerField(db_default=0, default=0, help_text='The messages up to here are read one at a time, as one of them fails.')),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text="It is not run before; by the database's clock.")),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, db_default=models.Value([]), default=list, help_text="Tags of every memory that it makes, beside the memory's own.", size=None)),
                ('valid_to', models.DateTimeField(blank=True, help_text='When every memory that it makes ends at the latest.', null=True)),
                ('result', models.JSONField(blank=True, default=dict)),
                ('error', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('reported_at', models.DateTimeField(blank=True, null=True)),
                ('conversation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='teams.conversation')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('state__in', ['queued', 'running']), models.Q(('left_out__gt', 0), ('state', 'done')), _connector='OR'), fields=['team', 'due_at'], name='job_due'), models.Index(condition=models.Q(('state', 'done')), fields=['team', '-finished_at'], name='job_done_by_time'), models.Index(condition=models.Q(('state', 'failed')), fields=['team', '-finished_at'], name='job_failed_by_time'), models.Index(condition=models.Q(('state', 'set_aside')), fields=['team', '-finished_at'], name='job_set_aside_by_time'), models.Index(fields=['team', '-created_at'], name='job_by_time')],
                'constraints': [models.UniqueConstraint(fields=('team', 'conversation', 'from_position', 'kind'), name='job_range_of_kind_once'), models.CheckConstraint(condition=models.Q(('to_position__gte', models.F('from_position'))), name='job_range_ordered')],
            },
        ),
        migrations.CreateModel(
            name='MemoryLevels',
            fields=[
                ('memory', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='stored_levels', serialize=False, to='memory.memory')),
                ('summary', models.TextField(blank=True, db_default='', default='')),
                ('compressed', models.TextField(blank=True, db_default='', default='')),
                ('index_term', models.CharField(blank=True, db_default='', default='', max_length=50)),
                ('writer', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('told_at_most', models.CharField(choices=[('content', 'content'), ('summary', 'summary'), ('compressed', 'compressed')], db_default='content', default='content', max_length=20)),
                ('embedding', pgvector.django.halfvec.HalfVectorField(null=True)),
                ('embedding_model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'levels',
                'indexes': [models.Index(condition=models.Q(('writer', '')), fields=['team', 'memory'], name='memory_levels_waiting')],
                'constraints': [models.CheckConstraint(condition=models.Q(('told_at_most__in', ['content', 'summary', 'compressed'])), name='memory_levels_told_known')],
            },
        ),
        migrations.CreateModel(
            name='MemoryUsage',
            fields=[
                ('memory', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='usage', serialize=False, to='memory.memory')),
                ('retrieved', models.PositiveBigIntegerField(default=0)),
                ('cited', models.PositiveBigIntegerField(default=0)),
                ('ignored', models.PositiveBigIntegerField(default=0)),
                ('succeeded', models.PositiveBigIntegerField(default=0)),
                ('failed', models.PositiveBigIntegerField(default=0)),
                ('last_accessed_at', models.DateTimeField(null=True)),
                ('daily', models.JSONField(db_default={}, default=dict, editable=False)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('last_accessed_at__isnull', False)), fields=['team', '-last_accessed_at'], name='memory_usage_by_access')],
            },
        ),
        migrations.CreateModel(
            name='SearchEntry',
            fields=[
                ('memory', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='search_entry', serialize=False, to='memory.memory')),
                ('memory_type', models.CharField(choices=[('semantic', 'semantic'), ('episodic', 'episodic'), ('procedural', 'procedural'), ('agent_private', 'agent_private'), ('shared', 'shared'), ('identity', 'identity'), ('user_profile', 'user_profile'), ('insight', 'insight')], editable=False, max_length=20)),
                ('audience', models.CharField(choices=[('agent', 'agent'), ('person', 'person'), ('team', 'team')], db_default='agent', default='agent', editable=False, max_length=10)),
                ('position', models.PositiveIntegerField(editable=False, null=True)),
                ('said_at', models.DateTimeField(editable=False)),
                ('held_from', models.DateTimeField(editable=False, null=True)),
                ('held_until', models.DateTimeField(editable=False, null=True)),
                ('people', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_default=models.Value([]), default=list, size=None)),
                ('place', models.PositiveSmallIntegerField(choices=[(0, 'found by default'), (1, 'live, but cold'), (2, 'superseded or archived'), (3, 'deleted')], db_default=0, default=0, editable=False)),
                ('embedding', pgvector.django.halfvec.HalfVectorField(null=True)),
                ('embedding_model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('next_embedding', pgvector.django.halfvec.HalfVectorField(null=True)),
                ('next_model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('graph_dimensions', models.PositiveSmallIntegerField(db_default=0, default=0, editable=False)),
                ('graph_number', models.PositiveSmallIntegerField(db_default=0, default=0, editable=False)),
                ('lexemes', django.contrib.postgres.search.SearchVectorField()),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('conversation', models.ForeignKey(db_constraint=False, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.conversation')),
                ('end_user', models.ForeignKey(db_constraint=False, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser')),
                ('project', models.ForeignKey(db_constraint=False, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.project')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'search entries',
                'indexes': [models.Index(condition=models.Q(('conversation__isnull', False)), fields=['team', 'conversation', 'position'], name='memory_search_in_conversation'), models.Index(fields=['team', 'end_user', 'place', 'memory'], name='memory_search_by_owner'), models.Index(condition=models.Q(('place', 1)), fields=['team', 'end_user'], name='memory_search_cold'), models.Index(condition=models.Q(('graph_dimensions', 0)), fields=['team', 'end_user', 'place'], name='memory_search_outside_graph'), models.Index(condition=models.Q(('embedding_model', '')), fields=['team', 'memory'], name='memory_search_pending')],
            },
        ),
        tenant_table("memory_memory", rights="SELECT, INSERT, UPDATE"),
        tenant_table("memory_memorytag", rights="SELECT"),
        tenant_table("memory_searchentry", rights="SELECT, INSERT, UPDATE", key="memory_id"),
        tenant_table("memory_memoryusage", rights="SELECT, INSERT, UPDATE", key="memory_id"),
        tenant_table("memory_memoryrelation", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_table("memory_contradiction", rights="SELECT, INSERT, UPDATE"),
        tenant_table("memory_settlement", rights="SELECT, INSERT, UPDATE"),
        tenant_table("memory_job", rights="SELECT, INSERT, UPDATE"),
        tenant_table("memory_compaction", rights="SELECT, INSERT"),
        tenant_table("memory_searchgraph", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_table("memory_category", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_table("memory_messageentry", rights="SELECT, INSERT, UPDATE", key="message_id"),
        tenant_table("memory_externalname", rights="SELECT, INSERT"),
        tenant_table("memory_memoryartifact", rights="SELECT"),
        tenant_table("memory_memorylevels", rights="SELECT, UPDATE", key="memory_id"),
        tenant_references(
            "memory_memory",
            [
                ("agent_id", "teams_agent"),
                ("end_user_id", "teams_enduser"),
                ("project_id", "teams_project"),
                ("conversation_id", "teams_conversation"),
                ("supersedes_id", "memory_memory"),
            ],
        ),
        # The old version names its successor before the successor is inserted: only one of them
        # may be live at a time.
        tenant_references(
            "memory_memory", [("superseded_by_id", "memory_memory")], at_commit=True
        ),
        *(
            tenant_references(table, [("memory_id", "memory_memory")])
            for table in (
                "memory_memorytag",
                "memory_memoryusage",
                "memory_memoryartifact",
                "memory_memorylevels",
            )
        ),
        tenant_references(
            "memory_searchentry",
            [
                ("memory_id", "memory_memory"),
                ("agent_id", "teams_agent"),
                ("end_user_id", "teams_enduser"),
                ("project_id", "teams_project"),
                ("conversation_id", "teams_conversation"),
            ],
        ),
        tenant_references(
            "memory_memoryrelation",
            [("from_memory_id", "memory_memory"), ("to_memory_id", "memory_memory")],
        ),
        tenant_references(
            "memory_contradiction",
            [("memory_a_id", "memory_memory"), ("memory_b_id", "memory_memory")],
        ),
        tenant_references(
            "memory_settlement",
            [("contradiction_id", "memory_contradiction"), ("merged_memory_id", "memory_memory")],
        ),
        tenant_references(
            "memory_compaction",
            [("conversation_id", "teams_conversation"), ("summary_memory_id", "memory_memory")],
        ),
        tenant_references("memory_job", [("conversation_id", "teams_conversation")]),
        tenant_references(
            "memory_messageentry",
            [
                ("message_id", "teams_message"),
                ("conversation_id", "teams_conversation"),
                ("agent_id", "teams_agent"),
                ("end_user_id", "teams_enduser"),
                ("project_id", "teams_project"),
            ],
        ),
        tenant_references(
            "memory_externalname", [("memory_id", "memory_memory"), ("agent_id", "teams_agent")]
        ),
        # One row for all teams, so there is no team's policy: it names models and nothing else.
        migrations.RunSQL(
            f"REVOKE ALL ON memory_embeddingstate FROM {APP_ROLE};"
            f"GRANT SELECT, INSERT, UPDATE ON memory_embeddingstate TO {APP_ROLE};",
            migrations.RunSQL.noop,
        ),
        *sql_files(
            __file__,
            "memory_row",
            "search_layout",
            "message_entries",
            "message_layout",
            "renew_statistics",
            "due_jobs",
            "pending_vectors",
        ),
    ]

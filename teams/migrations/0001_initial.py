"""Teams, people, keys and conversations, with the guarantees of the database."""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import teams.domain.team_settings
import teams.ids
import teams.models.people
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models

from teams.tenancy_sql import append_only, sql_files, tenant_references, tenant_table


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='StaffUser',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'login',
                'verbose_name_plural': 'logins',
                'abstract': False,
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(max_length=100, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('time_zone', models.CharField(default='UTC', help_text="The time zone of the team's days and months, for example Europe/Oslo.", max_length=100, validators=[teams.models.people.check_time_zone])),
                ('person_role', models.CharField(choices=[('member', 'member'), ('guest', 'guest')], db_default='guest', default='guest', help_text="Members' agents can use what other members said about work. Guests' agents cannot. Guests are, for example, customers.", max_length=10, verbose_name='role of new people')),
                ('feature_flags', models.JSONField(blank=True, default=dict)),
                ('sensitive_fields', models.JSONField(blank=True, db_default=models.Value(['preferred_name', 'name', 'pronouns', 'city', 'language'], models.JSONField()), default=teams.domain.team_settings.default_sensitive_fields, help_text='Profile fields of a person that change only with consent.')),
                ('context_settings', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict, help_text='Overrides of the defaults for read-only context.')),
                ('lifecycle_settings', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict, help_text='Overrides of the defaults for merging, shortening, ranking and forgetting.')),
                ('monthly_budget_usd', models.DecimalField(blank=True, decimal_places=6, help_text="Maximum model cost of the team per month in USD; empty: the server's default.", max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0'))])),
                ('daily_user_budget_usd', models.DecimalField(blank=True, decimal_places=6, help_text="Maximum model cost per person and day in USD; empty: the server's default.", max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0'))])),
                ('episode_rest_hours', models.PositiveSmallIntegerField(blank=True, help_text='Hours without a message after which a conversation is summarised as an episode; empty for the default.', null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['slug'],
                'constraints': [models.CheckConstraint(condition=models.Q(('episode_rest_hours__isnull', True), ('episode_rest_hours__gte', 1), _connector='OR'), name='team_episode_rest_positive'), models.CheckConstraint(condition=models.Q(('monthly_budget_usd__isnull', True), ('monthly_budget_usd__gte', 0), _connector='OR'), name='team_monthly_budget_not_negative'), models.CheckConstraint(condition=models.Q(('daily_user_budget_usd__isnull', True), ('daily_user_budget_usd__gte', 0), _connector='OR'), name='team_daily_budget_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=100)),
                ('name', models.CharField(max_length=200)),
                ('tagline', models.CharField(blank=True, default='', max_length=300)),
                ('personality', models.JSONField(blank=True, default=dict)),
                ('rules', models.JSONField(blank=True, default=dict)),
                ('skills', models.JSONField(blank=True, default=dict)),
                ('model_config', models.JSONField(blank=True, default=dict)),
                ('retrieval_weights', models.JSONField(blank=True, default=dict)),
                ('token_budget', models.PositiveIntegerField(default=2000, validators=[django.core.validators.MinValueValidator(1)])),
                ('summarize_interval', models.PositiveIntegerField(default=20, validators=[django.core.validators.MinValueValidator(1)])),
                ('allowed_categories', models.JSONField(blank=True, default=list)),
                ('keeps_to_itself', models.BooleanField(db_default=False, default=False, help_text='Other agents do not see what it learns in conversations.')),
                ('context_policy', models.JSONField(blank=True, db_default={}, default=dict)),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['slug'],
                'constraints': [models.UniqueConstraint(fields=('team', 'slug'), name='agent_slug_once'), models.CheckConstraint(condition=models.Q(('summarize_interval__gte', 1)), name='agent_interval_positive'), models.CheckConstraint(condition=models.Q(('token_budget__gte', 1)), name='agent_budget_positive')],
            },
        ),
        migrations.CreateModel(
            name='EndUser',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('external_id', models.CharField(max_length=200)),
                ('display_name', models.CharField(blank=True, default='', max_length=200)),
                ('role', models.CharField(blank=True, choices=[('member', 'member'), ('guest', 'guest')], db_default='', default='', help_text="Members' agents can use what other members said about work. Guests' agents cannot. Empty: the team's default for new people.", max_length=10)),
                ('profile', models.JSONField(blank=True, default=dict)),
                ('has_insights', models.BooleanField(db_default=True, default=True, help_text='Derive insights about this person.', verbose_name='insights')),
                ('insights_at', models.DateTimeField(editable=False, help_text='The last search for insights.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'people', 'verbose_name': 'person', 'ordering': ['external_id'],
                'constraints': [models.UniqueConstraint(fields=('team', 'external_id'), name='end_user_once')],
            },
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=100)),
                ('name', models.CharField(max_length=200)),
                ('max_items', models.PositiveIntegerField(db_default=1000, default=1000, help_text='Maximum number of current memories. Above it, the least important tenth is archived, oldest first; pinned memories stay.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='memory limit')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['slug'],
                'constraints': [models.UniqueConstraint(fields=('team', 'slug'), name='project_slug_once'), models.CheckConstraint(condition=models.Q(('max_items__gte', 1)), name='project_max_items_positive')],
            },
        ),
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('thread_id', models.CharField(max_length=200, verbose_name='thread')),
                ('revision', models.BigIntegerField(default=0)),
                ('last_position', models.PositiveIntegerField(default=0, verbose_name='messages')),
                ('extracted_position', models.PositiveIntegerField(default=0, verbose_name='messages extracted')),
                ('episode_position', models.PositiveIntegerField(db_default=0, default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('project', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.project')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(fields=['team', 'end_user', '-created_at'], name='conversation_by_user'), models.Index(fields=['team', '-created_at'], name='conversation_by_time')],
                'constraints': [models.UniqueConstraint(fields=('team', 'agent', 'end_user', 'thread_id'), name='conversation_thread_once'), models.CheckConstraint(condition=models.Q(('extracted_position__lte', models.F('last_position'))), name='conversation_extracts_what_exists')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('position', models.PositiveIntegerField()),
                ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant'), ('system', 'System'), ('tool', 'Tool')], max_length=20)),
                ('content', models.TextField()),
                ('name', models.CharField(blank=True, default='', max_length=200)),
                ('external_id', models.CharField(blank=True, max_length=200, null=True)),
                ('created_at', models.DateTimeField(help_text='When it was said.')),
                ('received_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='teams.conversation')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['conversation', 'position'],
                'constraints': [models.UniqueConstraint(fields=('team', 'conversation', 'position'), name='message_position_once'), models.UniqueConstraint(condition=models.Q(('external_id__isnull', False)), fields=('team', 'conversation', 'external_id'), name='message_external_id_once'), models.CheckConstraint(condition=models.Q(('role__in', ['user', 'assistant', 'system', 'tool'])), name='message_role_known'), models.CheckConstraint(condition=models.Q(('position__gte', 1)), name='message_position_from_one')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('admin', 'Admin'), ('reviewer', 'Reviewer'), ('viewer', 'Viewer')], default='viewer', max_length=20)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'member',
                'constraints': [models.UniqueConstraint(fields=('team', 'user'), name='membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['admin', 'reviewer', 'viewer'])), name='membership_role_known')],
            },
        ),
        migrations.CreateModel(
            name='IdempotentRequest',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=200)),
                ('digest', models.BinaryField(help_text='Of method, address and body.', max_length=32)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('committed_at', models.DateTimeField(blank=True, null=True)),
                ('status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('media_type', models.CharField(blank=True, default='', max_length=100)),
                ('body', models.TextField(blank=True, default='')),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, help_text='The agent of the API key; empty for keys of the team.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(fields=['team', 'made_at'], name='idempotent_request_by_age')],
                'constraints': [models.UniqueConstraint(fields=('team', 'agent', 'key'), name='idempotent_request_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('status__isnull', True), ('claim__isnull', True), _connector='OR'), name='idempotent_request_finished_once')],
            },
        ),
        migrations.CreateModel(
            name='Checkpoint',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('thread_id', models.CharField(max_length=200, verbose_name='thread')),
                ('version', models.PositiveIntegerField()),
                ('data', models.TextField()),
                ('size', models.PositiveIntegerField()),
                ('actor', models.CharField(max_length=200)),
                ('saved_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, help_text='The owner; empty for the team.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(fields=['team', '-saved_at'], name='checkpoint_by_time')],
                'constraints': [models.UniqueConstraint(fields=('team', 'end_user', 'thread_id', 'agent', 'version'), name='checkpoint_version_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='checkpoint_version_from_one')],
            },
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, default='', max_length=200)),
                ('prefix', models.CharField(editable=False, max_length=16)),
                ('digest', models.BinaryField(max_length=32, unique=True)),
                ('project_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, db_default=models.Value([]), default=list, help_text='The projects that the key can see; empty for all.', size=None)),
                ('is_read_only', models.BooleanField(db_default=False, default=False, help_text='The key can read, but not change anything.', verbose_name='read-only')),
                ('expires_at', models.DateTimeField(blank=True, help_text='The key stops working at this time. Empty: it never expires.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('rotated_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='keys', to='teams.agent')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'API key',
                'ordering': ['-created_at'],
                'constraints': [models.UniqueConstraint(fields=('team', 'prefix'), name='api_key_prefix_once')],
            },
        ),
        migrations.CreateModel(
            name='AgentVersion',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField(verbose_name='version')),
                ('document', models.JSONField()),
                ('actor', models.CharField(max_length=200)),
                ('reason', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='teams.agent')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-number'],
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('team', 'agent', 'number'), name='agent_version_once'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='agent_version_from_one')],
            },
        ),
        migrations.CreateModel(
            name='AgentAlias',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=100)),
                ('actor', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='aliases', to='teams.agent')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['slug'],
                'indexes': [models.Index(fields=['team', 'agent'], name='agent_alias_by_agent')],
                'constraints': [models.UniqueConstraint(fields=('team', 'slug'), name='agent_alias_once')],
            },
        ),
        migrations.CreateModel(
            name='TeamVersion',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField(verbose_name='version')),
                ('document', models.JSONField()),
                ('actor', models.CharField(max_length=200)),
                ('reason', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-number'],
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('team', 'number'), name='team_version_once'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='team_version_from_one')],
            },
        ),
        migrations.CreateModel(
            name='ToldRevision',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('revision', models.BigIntegerField()),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('conversation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.conversation')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'conversation'), name='told_revision_once')],
            },
        ),
        *sql_files(__file__, "guarantees"),
        tenant_table("teams_membership", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_table("teams_project", rights="SELECT, INSERT, UPDATE"),
        tenant_table("teams_enduser", rights="SELECT, INSERT, UPDATE"),
        tenant_table("teams_agent", rights="SELECT, INSERT, UPDATE"),
        tenant_table("teams_agentalias", rights="SELECT, INSERT, DELETE"),
        tenant_table("teams_apikey", rights="SELECT, INSERT, UPDATE"),
        tenant_table("teams_conversation", rights="SELECT, INSERT, UPDATE"),
        tenant_table("teams_message", rights="SELECT, INSERT"),
        tenant_table("teams_idempotentrequest", rights="SELECT, INSERT, UPDATE, DELETE"),
        # Versions beyond the depth that is kept are removed: a state to go on from, no log.
        tenant_table("teams_checkpoint", rights="SELECT, INSERT, DELETE"),
        tenant_table("teams_toldrevision", rights="SELECT, INSERT, UPDATE"),
        tenant_table("teams_agentversion", rights="SELECT"),
        tenant_table("teams_teamversion", rights="SELECT"),
        *(
            tenant_references(table, [("agent_id", "teams_agent")])
            for table in (
                "teams_agentalias",
                "teams_apikey",
                "teams_idempotentrequest",
                "teams_agentversion",
            )
        ),
        tenant_references(
            "teams_conversation",
            [
                ("agent_id", "teams_agent"),
                ("end_user_id", "teams_enduser"),
                ("project_id", "teams_project"),
            ],
        ),
        tenant_references("teams_message", [("conversation_id", "teams_conversation")]),
        tenant_references(
            "teams_checkpoint", [("agent_id", "teams_agent"), ("end_user_id", "teams_enduser")]
        ),
        tenant_references("teams_toldrevision", [("conversation_id", "teams_conversation")]),
        *map(append_only, ("teams_message", "teams_agentversion", "teams_teamversion")),
        *sql_files(__file__, "agent_versions", "team_versions", "agent_aliases", "last_admin"),
    ]

"""Providers, models, decisions and what was spent."""

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import routing.models
import teams.ids
from decimal import Decimal
from django.db import migrations, models

from teams.tenancy_sql import append_only, sql_files, tenant_references, tenant_table


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Provider',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60, validators=[django.core.validators.RegexValidator('\\A[\\w][\\w .-]*\\Z', 'Use letters, digits, spaces, . _ and -.')])),
                ('base_url', models.CharField(default='https://api.openai.com/v1', help_text='For example https://host/v1.', max_length=500, validators=[routing.models.check_url], verbose_name='base URL')),
                ('key_variable', models.CharField(blank=True, default='', help_text="The server's environment variable with the API key, for example PROVIDER_KEY_OPENAI. Empty: no key is sent.", max_length=100, validators=[routing.models.check_key_name], verbose_name='API key variable')),
                ('timeout_seconds', models.FloatField(default=60.0, help_text='Seconds without a response after which the next model is tried.', validators=[django.core.validators.MinValueValidator(0.1), django.core.validators.MaxValueValidator(600)], verbose_name='timeout (seconds)')),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='provider_name_once'), models.CheckConstraint(condition=models.Q(('timeout_seconds__gt', 0), ('timeout_seconds__lte', 600)), name='provider_timeout_sane'), models.CheckConstraint(condition=models.Q(('base_url__startswith', 'http://'), ('base_url__startswith', 'https://'), _connector='OR'), name='provider_speaks_http'), models.CheckConstraint(condition=models.Q(('key_variable', ''), ('key_variable__regex', '^PROVIDER_KEY_[A-Z0-9_]+$'), _connector='OR'), name='provider_key_is_a_name')],
            },
        ),
        migrations.CreateModel(
            name='ChatModel',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(help_text="The provider's name for it, for example anthropic/claude-haiku-4.5.", max_length=200, validators=[django.core.validators.RegexValidator('\\A[!-~]+\\Z', "Use the provider's name, without spaces.")])),
                ('tier', models.CharField(choices=[('fast', 'Fast'), ('balanced', 'Balanced'), ('powerful', 'Powerful')], max_length=20)),
                ('input_price', models.DecimalField(decimal_places=9, help_text='USD per 1,000 input tokens.', max_digits=13, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(Decimal('1000'))], verbose_name='input price')),
                ('output_price', models.DecimalField(decimal_places=9, help_text='USD per 1,000 output tokens.', max_digits=13, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(Decimal('1000'))], verbose_name='output price')),
                ('context_window', models.PositiveIntegerField(default=128000, help_text='Maximum tokens of input and output together.', validators=[django.core.validators.MinValueValidator(1024), django.core.validators.MaxValueValidator(100000000)])),
                ('max_output_tokens', models.PositiveIntegerField(default=8192, help_text='Maximum tokens of a response.', validators=[django.core.validators.MinValueValidator(1)])),
                ('priority', models.PositiveSmallIntegerField(default=100, help_text='Within a tier, the model with the lowest number is tried first.')),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('provider', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='chat_models', to='routing.provider')),
            ],
            options={
                'verbose_name': 'model',
                'ordering': ['tier', 'priority', 'name'],
                'constraints': [models.UniqueConstraint(fields=('team', 'provider', 'name'), name='chat_model_once'), models.CheckConstraint(condition=models.Q(('tier__in', ['fast', 'balanced', 'powerful'])), name='chat_model_tier_known'), models.CheckConstraint(condition=models.Q(('input_price__gte', 0), ('output_price__gte', 0)), name='chat_model_prices_not_negative'), models.CheckConstraint(condition=models.Q(('context_window__gte', 1024), ('max_output_tokens__gte', 1), ('max_output_tokens__lte', models.F('context_window'))), name='chat_model_windows_sane', violation_error_message='The longest answer must fit into the context window, which has 1024 tokens at least.')],
            },
        ),
        migrations.CreateModel(
            name='RoutingDecision',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('query_hash', models.CharField(max_length=64)),
                ('scores', models.JSONField()),
                ('score', models.FloatField()),
                ('scorer', models.CharField(choices=[('heuristics', 'Heuristics'), ('model', 'Model')], max_length=20)),
                ('tier', models.CharField(choices=[('fast', 'fast'), ('balanced', 'balanced'), ('powerful', 'powerful')], max_length=20)),
                ('model', models.CharField(max_length=200)),
                ('provider', models.CharField(max_length=60)),
                ('reason', models.TextField()),
                ('estimated_usd', models.DecimalField(decimal_places=6, max_digits=12)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('outcome', models.CharField(choices=[('advised', 'Advised'), ('answered', 'Answered'), ('cut', 'Cut off'), ('failed', 'Failed')], default='advised', max_length=20)),
                ('answered_by', models.CharField(blank=True, default='', max_length=200)),
                ('attempts', models.JSONField(blank=True, default=list)),
                ('cost_usd', models.DecimalField(blank=True, decimal_places=6, max_digits=12, null=True)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'routing decision',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['team', '-at'], name='routing_decision_by_time'), models.Index(fields=['team', 'end_user', '-at'], name='routing_decision_by_user')],
                'constraints': [models.CheckConstraint(condition=models.Q(('tier__in', ['fast', 'balanced', 'powerful'])), name='routing_decision_tier_known'), models.CheckConstraint(condition=models.Q(('scorer__in', ['heuristics', 'model'])), name='routing_decision_scorer_known'), models.CheckConstraint(condition=models.Q(('outcome__in', ['advised', 'answered', 'cut', 'failed'])), name='routing_decision_outcome_known'), models.CheckConstraint(condition=models.Q(('estimated_usd__gte', 0)), name='routing_decision_estimate_sane')],
            },
        ),
        migrations.CreateModel(
            name='SpendEntry',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('reservation_id', models.UUIDField()),
                ('model', models.CharField(max_length=200)),
                ('tier', models.CharField(max_length=40)),
                ('input_tokens', models.PositiveIntegerField()),
                ('output_tokens', models.PositiveIntegerField()),
                ('cost_usd', models.DecimalField(decimal_places=6, max_digits=12)),
                ('day', models.DateField()),
                ('at', models.DateTimeField()),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'spend entries',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['team', '-at'], name='spend_entry_by_time')],
                'constraints': [models.UniqueConstraint(fields=('team', 'reservation_id'), name='spend_entry_once_a_reservation'), models.CheckConstraint(condition=models.Q(('cost_usd__gte', 0)), name='spend_entry_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='SpendEpoch',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveBigIntegerField()),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team',), name='spend_epoch_of_team')],
            },
        ),
        migrations.CreateModel(
            name='SpendReservation',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('estimated_usd', models.DecimalField(decimal_places=6, max_digits=12)),
                ('day', models.DateField()),
                ('reserved_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(fields=['team', 'expires_at'], name='spend_reservation_by_end')],
                'constraints': [models.CheckConstraint(condition=models.Q(('estimated_usd__gte', 0)), name='spend_reservation_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='SpendTotal',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('user_day', "End user's day"), ('team_month', "Team's month"), ('agent_day', "Agent's day"), ('agent_month', "Agent's month"), ('team_day', "Team's day")], max_length=20)),
                ('begins_on', models.DateField()),
                ('spent_usd', models.DecimalField(decimal_places=6, default=Decimal('0'), max_digits=18)),
                ('calls', models.PositiveBigIntegerField(default=0)),
                ('input_tokens', models.PositiveBigIntegerField(default=0)),
                ('output_tokens', models.PositiveBigIntegerField(default=0)),
                ('agent', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'spend total',
                'ordering': ['-begins_on', 'kind', '-spent_usd'],
                'constraints': [models.UniqueConstraint(fields=('team', 'kind', 'begins_on', 'agent', 'end_user'), name='spend_total_once_a_window', nulls_distinct=False)],
            },
        ),
        tenant_table("routing_spendentry", rights="SELECT, INSERT"),
        append_only("routing_spendentry"),
        # What is settled or given up is removed: money that is held, no log.
        tenant_table("routing_spendreservation", rights="SELECT, INSERT, DELETE"),
        tenant_table("routing_spendtotal", rights="SELECT"),
        tenant_table("routing_spendepoch", rights="SELECT, INSERT, UPDATE"),
        tenant_table("routing_provider", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_table("routing_chatmodel", rights="SELECT, INSERT, UPDATE, DELETE"),
        # What was decided stands; only what became of the call comes later.
        tenant_table(
            "routing_routingdecision",
            rights="SELECT, INSERT, UPDATE (outcome, answered_by, attempts, cost_usd)",
        ),
        *(
            tenant_references(
                table, [("agent_id", "teams_agent"), ("end_user_id", "teams_enduser")]
            )
            for table in (
                "routing_spendentry",
                "routing_spendreservation",
                "routing_spendtotal",
                "routing_routingdecision",
            )
        ),
        tenant_references("routing_chatmodel", [("provider_id", "routing_provider")]),
        *sql_files(__file__, "spend_totals", "forget_queries", "decision_retention"),
    ]

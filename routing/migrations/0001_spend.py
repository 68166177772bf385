from decimal import Decimal
from pathlib import Path

import django.db.models.deletion

from django.db import migrations, models

import teams.ids
from teams.tenancy_sql import append_only, tenant_references, tenant_table

SQL = Path(__file__).parent.parent / "sql"

SPENDERS = [("agent_id", "teams_agent"), ("end_user_id", "teams_enduser")]


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('teams', '0003_checkpoint'),
    ]

    operations = [
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
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'spend entries',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['team', '-at'], name='spend_entry_by_time')],
                'constraints': [
                    models.UniqueConstraint(fields=('team', 'reservation_id'), name='spend_entry_once_a_reservation'),
                    models.CheckConstraint(condition=models.Q(('cost_usd__gte', 0)), name='spend_entry_not_negative'),
                ],
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
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser')),
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
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'spend total',
                'ordering': ['-begins_on', 'kind', '-spent_usd'],
                'constraints': [models.UniqueConstraint(fields=('team', 'kind', 'begins_on', 'agent', 'end_user'), name='spend_total_once_a_window', nulls_distinct=False)],
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
        tenant_table("routing_spendentry", rights="SELECT, INSERT"),
        tenant_references("routing_spendentry", SPENDERS),
        append_only("routing_spendentry"),
        # What is settled or given up is removed: money that is held, no log.
        tenant_table("routing_spendreservation", rights="SELECT, INSERT, DELETE"),
        tenant_references("routing_spendreservation", SPENDERS),
        tenant_table("routing_spendtotal", rights="SELECT"),
        tenant_references("routing_spendtotal", SPENDERS),
        tenant_table("routing_spendepoch", rights="SELECT, INSERT, UPDATE"),
        migrations.RunSQL((SQL / "spend_totals.sql").read_text(), migrations.RunSQL.noop),
    ]

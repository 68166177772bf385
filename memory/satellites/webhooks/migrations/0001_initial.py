"""Webhooks: endpoints of teams, and what waits to be sent there."""

import django.contrib.postgres.fields
import django.db.models.deletion
import teams.ids
from django.apps import apps
from django.db import migrations, models

from teams.tenancy_sql import owners_triggers, sql_files, tenant_references, tenant_table

# Satellites whose rows are announced too, where they are installed.
ANNOUNCED = [label for label in ("consent", "lifecycle") if apps.is_installed(f"memory.satellites.{label}")]


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('audit', '0002_guarantees'),
        *((label, '0001_initial') for label in ANNOUNCED),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, default='', help_text='For example Slack bot.', max_length=200)),
                ('url', models.CharField(max_length=2000, verbose_name='address')),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), help_text='Events to send.', size=None)),
                ('include_text', models.BooleanField(default=False, help_text='Include the text of memories in events.')),
                ('is_enabled', models.BooleanField(default=True, help_text='A disabled webhook receives no events. Events missed meanwhile are not sent later.', verbose_name='enabled')),
                ('note', models.CharField(blank=True, default='', editable=False, max_length=300)),
                ('secret', models.CharField(editable=False, max_length=80)),
                ('old_secret', models.CharField(blank=True, default='', editable=False, max_length=80)),
                ('old_secret_until', models.DateTimeField(editable=False, null=True)),
                ('failures', models.PositiveIntegerField(default=0, editable=False)),
                ('failing_since', models.DateTimeField(editable=False, null=True)),
                ('rests_until', models.DateTimeField(editable=False, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'webhook',
                'db_table': 'teams_webhookendpoint',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('seq', models.BigAutoField(primary_key=True, serialize=False)),
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False)),
                ('type', models.CharField(max_length=40)),
                ('subject_id', models.UUIDField()),
                ('data', models.JSONField(default=dict)),
                ('once', models.CharField(max_length=200, null=True)),
                ('happened_at', models.DateTimeField()),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('delivered', 'Delivered'), ('dead', 'Failed')], db_default='waiting', default='waiting', max_length=10)),
                ('attempts', models.PositiveIntegerField(db_default=0, default=0)),
                ('due_at', models.DateTimeField(help_text='The time of the next attempt.')),
                ('give_up_at', models.DateTimeField(help_text='The time after which no further attempt is made.')),
                ('attempted_at', models.DateTimeField(null=True)),
                ('status_code', models.PositiveSmallIntegerField(null=True)),
                ('error', models.CharField(blank=True, db_default='', default='', max_length=300)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('endpoint', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='webhooks.webhookendpoint')),
            ],
            options={
                'verbose_name': 'webhook delivery',
                'verbose_name_plural': 'webhook deliveries',
                'db_table': 'teams_webhookdelivery',
                'ordering': ['-seq'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['team', 'endpoint', 'due_at'], name='webhook_delivery_due'), models.Index(condition=models.Q(('state', 'waiting')), fields=['team', 'endpoint', 'subject_id', 'seq'], name='webhook_delivery_order'), models.Index(fields=['team', 'endpoint', 'state', 'seq'], name='webhook_delivery_by_state')],
                'constraints': [models.UniqueConstraint(fields=('team', 'id'), name='webhook_delivery_id_once'), models.UniqueConstraint(condition=models.Q(('once__isnull', False)), fields=('team', 'endpoint', 'once'), name='webhook_delivery_once')],
            },
        ),
        tenant_table("teams_webhookendpoint", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_table("teams_webhookdelivery", rights="SELECT, INSERT, UPDATE, DELETE", key="seq"),
        tenant_references("teams_webhookdelivery", [("endpoint_id", "teams_webhookendpoint")]),
        *sql_files(
            __file__, "webhooks", "memory_events", *(f"{label}_events" for label in ANNOUNCED)
        ),
        owners_triggers(),
    ]

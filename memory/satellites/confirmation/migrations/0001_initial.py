"""Decisions of people about unconfirmed memories."""

import django.db.models.deletion
import django.utils.timezone
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import sql_files, tenant_references, tenant_table


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('memory', '0004_sources'),
        ('teams', '0005_sources'),
    ]

    operations = [
        migrations.CreateModel(
            name='Confirmation',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('decision', models.CharField(blank=True, choices=[('confirmed', 'Confirmed'), ('rejected', 'Rejected')], db_default='', default='', max_length=10)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('decided_by', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('snoozed_until', models.DateTimeField(blank=True, help_text='Until then the inbox leaves it out.', null=True)),
                ('commit_id', models.BigIntegerField(editable=False, null=True)),
                ('first_seq', models.BigIntegerField(editable=False, null=True)),
                ('last_seq', models.BigIntegerField(editable=False, null=True)),
                ('memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'memory'), name='confirmation_once'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('decision', '')), models.Q(('decided_at__isnull', False), ('decision__in', ['confirmed', 'rejected'])), _connector='OR'), name='confirmation_decided_whole')],
            },
        ),
        tenant_table("confirmation_confirmation", rights="SELECT, INSERT, UPDATE"),
        tenant_references("confirmation_confirmation", [("memory_id", "memory_memory")]),
        *sql_files(__file__, "unconfirmed"),
    ]

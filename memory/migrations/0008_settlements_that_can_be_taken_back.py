"""What each settlement of a contradiction changed, and until when one is left out of the queue."""

import django.contrib.postgres.fields
import django.db.models.deletion
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import tenant_references, tenant_table


class Migration(migrations.Migration):

    dependencies = [
        ("memory", "0007_figures_of_home"),
        ('teams', '0002_agents_that_keep_to_themselves'),
    ]

    operations = [
        migrations.AddField(
            model_name='contradiction',
            name='snoozed_until',
            field=models.DateTimeField(blank=True, help_text='Until then the review queue leaves it out.', null=True),
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
        tenant_table("memory_settlement", rights="SELECT, INSERT, UPDATE"),
        tenant_references(
            "memory_settlement",
            [
                ("contradiction_id", "memory_contradiction"),
                ("merged_memory_id", "memory_memory"),
            ],
        ),
    ]

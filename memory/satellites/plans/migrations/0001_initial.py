"""Which memories were of use for a signal."""

import django.db.models.deletion
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import owners_triggers, sql_files, tenant_references, tenant_table


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('audit', '0002_guarantees'),
        ('memory', '0001_initial'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='SignalUse',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('signal', models.CharField(max_length=200)),
                ('weight', models.FloatField()),
                ('noted_at', models.DateTimeField()),
                ('memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('project', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.project')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'db_table': 'memory_signaluse',
                'indexes': [models.Index(fields=['team', 'project', 'signal'], name='memory_uses_of_signal'), models.Index(fields=['team', 'project', '-noted_at'], name='memory_uses_by_time')],
                'constraints': [models.UniqueConstraint(fields=('team', 'memory', 'signal'), name='memory_signal_use_once')],
            },
        ),
        tenant_table("memory_signaluse", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_references(
            "memory_signaluse", [("memory_id", "memory_memory"), ("project_id", "teams_project")]
        ),
        *sql_files(__file__, "signal_uses"),
        owners_triggers(),
    ]

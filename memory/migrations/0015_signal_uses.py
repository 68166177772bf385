"""What memories were of use for is counted by signal."""

from pathlib import Path

import django.db.models.deletion
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import tenant_references, tenant_table

MEMORY_SQL = Path(__file__).parent.parent / "sql"
AUDIT_SQL = Path(__file__).parent.parent.parent / "audit" / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0014_work_in_progress'),
        ('teams', '0008_context_policies'),
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
                'indexes': [models.Index(fields=['team', 'project', 'signal'], name='memory_uses_of_signal'), models.Index(fields=['team', 'project', '-noted_at'], name='memory_uses_by_time')],
                'constraints': [models.UniqueConstraint(fields=('team', 'memory', 'signal'), name='memory_signal_use_once')],
            },
        ),
        tenant_table("memory_signaluse", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_references(
            "memory_signaluse",
            [("memory_id", "memory_memory"), ("project_id", "teams_project")],
        ),
        migrations.RunSQL(
            (MEMORY_SQL / "signal_uses.sql").read_text(), migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            (AUDIT_SQL / "forget_statistics.sql").read_text(), migrations.RunSQL.noop
        ),
    ]

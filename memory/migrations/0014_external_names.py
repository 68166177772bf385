from pathlib import Path

import django.db.models.deletion

from django.db import migrations, models

import teams.ids

from teams.tenancy_sql import tenant_references, tenant_table

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0013_people_of_entries'),
        ('audit', '0011_definers_and_flags'),
        ('teams', '0005_team_versions'),
    ]

    operations = [
        migrations.CreateModel(
            name='ExternalName',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('external_id', models.CharField(max_length=200)),
                ('text_key', models.BinaryField(max_length=32)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('memory', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memory.memory')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'external name',
                'indexes': [models.Index(fields=['team', 'memory'], name='memory_names_of_memory')],
                'constraints': [models.UniqueConstraint(fields=('team', 'external_id', 'agent'), name='memory_external_name_once', nulls_distinct=False)],
            },
        ),
        tenant_table("memory_externalname", rights="SELECT, INSERT"),
        tenant_references(
            "memory_externalname", [("memory_id", "memory_memory"), ("agent_id", "teams_agent")]
        ),
        migrations.RunSQL(
            (SQL / "external_names.sql").read_text(),
            "DROP TRIGGER forget_external_names ON memory_memory;"
            " DROP FUNCTION palimpsest_forget_external_names()",
        ),
    ]

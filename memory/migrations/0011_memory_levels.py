"""Long memories have shorter versions of their text."""

from pathlib import Path

import django.db.models.deletion
import pgvector.django.halfvec
from django.db import migrations, models

from teams.tenancy_sql import tenant_references, tenant_table

MEMORY_SQL = Path(__file__).parent.parent / "sql"
AUDIT_SQL = Path(__file__).parent.parent.parent / "audit" / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0010_project_memories'),
        ('teams', '0007_context_settings'),
    ]

    operations = [
        migrations.CreateModel(
            name='MemoryLevels',
            fields=[
                ('memory', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='stored_levels', serialize=False, to='memory.memory')),
                ('summary', models.TextField(blank=True, db_default='', default='')),
                ('compressed', models.TextField(blank=True, db_default='', default='')),
                ('index_term', models.CharField(blank=True, db_default='', default='', max_length=50)),
                ('writer', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('embedding', pgvector.django.halfvec.HalfVectorField(null=True)),
                ('embedding_model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'levels',
                'indexes': [models.Index(condition=models.Q(('writer', '')), fields=['team', 'memory'], name='memory_levels_waiting')],
            },
        ),
        tenant_table("memory_memorylevels", rights="SELECT, UPDATE", key="memory_id"),
        tenant_references("memory_memorylevels", [("memory_id", "memory_memory")]),
        migrations.RunSQL(
            (MEMORY_SQL / "memory_levels.sql").read_text(), migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            (AUDIT_SQL / "forget_statistics.sql").read_text(), migrations.RunSQL.noop
        ),
    ]

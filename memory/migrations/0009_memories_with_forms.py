"""Memories may have a form with a payload, which never changes, and name artifacts."""

from pathlib import Path

import django.db.models.deletion
import teams.ids
from django.db import migrations, models

from teams.tenancy_sql import tenant_references, tenant_table

MEMORY_SQL = Path(__file__).parent.parent / "sql"
AUDIT_SQL = Path(__file__).parent.parent.parent / "audit" / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0008_settlements_that_can_be_taken_back'),
        ('teams', '0005_teams_keep_an_admin'),
        ('audit', '0003_names_of_people'),
    ]

    operations = [
        migrations.CreateModel(
            name='MemoryArtifact',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('commit', 'commit'), ('pr', 'pr'), ('adr', 'adr'), ('file', 'file')], max_length=10)),
                ('ref', models.CharField(max_length=500)),
            ],
            options={
                'verbose_name': 'artifact',
            },
        ),
        migrations.AddConstraint(
            model_name='memory',
            constraint=models.CheckConstraint(condition=models.Q(('form__in', ['', 'fact', 'episode', 'pattern', 'workflow', 'decision', 'convention', 'failure'])), name='memory_form_known'),
        ),
        migrations.AddField(
            model_name='memoryartifact',
            name='memory',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='artifact_rows', to='memory.memory'),
        ),
        migrations.AddField(
            model_name='memoryartifact',
            name='team',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team'),
        ),
        migrations.AddIndex(
            model_name='memoryartifact',
            index=models.Index(fields=['team', 'kind', 'ref', 'memory'], name='memory_by_artifact'),
        ),
        migrations.AddConstraint(
            model_name='memoryartifact',
            constraint=models.UniqueConstraint(fields=('team', 'memory', 'kind', 'ref'), name='memory_artifact_once'),
        ),
        tenant_table("memory_memoryartifact", rights="SELECT"),
        tenant_references("memory_memoryartifact", [("memory_id", "memory_memory")]),
        migrations.RunSQL(
            (MEMORY_SQL / "memory_forms.sql").read_text(), migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            (AUDIT_SQL / "forget_statistics.sql").read_text(), migrations.RunSQL.noop
        ),
    ]

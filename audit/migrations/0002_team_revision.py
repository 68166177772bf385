from pathlib import Path

import django.db.models.deletion
import django.utils.timezone

from django.db import migrations, models

import teams.ids
from teams.tenancy_sql import tenant_table

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0001_initial'),
        ('memory', '0006_category'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='TeamRevision',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('memories', models.BigIntegerField()),
                ('messages', models.BigIntegerField()),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name': 'team revision',
            },
        ),
        migrations.CreateModel(
            name='WrittenBatch',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'written batches',
            },
        ),
        tenant_table("audit_teamrevision", rights="SELECT"),
        tenant_table("audit_writtenbatch", rights="SELECT, INSERT, DELETE"),
        # Room for new versions of a row on its own page: they cost no entry in the index.
        migrations.RunSQL(
            "ALTER TABLE audit_teamrevision SET (fillfactor = 50)", migrations.RunSQL.noop
        ),
        migrations.RunSQL((SQL / "team_revision.sql").read_text(), migrations.RunSQL.noop),
    ]

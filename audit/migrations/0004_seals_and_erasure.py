from pathlib import Path

import django.db.models.deletion

from django.db import migrations, models

import teams.ids
from teams.tenancy_sql import append_only, tenant_table

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0003_message_revision'),
        ('memory', '0008_message_entries'),
        ('teams', '0003_checkpoint'),
    ]

    operations = [
        migrations.CreateModel(
            name='Seal',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveBigIntegerField()),
                ('after_seq', models.BigIntegerField()),
                ('last_seq', models.BigIntegerField()),
                ('rows', models.PositiveIntegerField()),
                ('leaves', models.BinaryField()),
                ('key_id', models.CharField(max_length=16)),
                ('digest', models.BinaryField(max_length=32)),
                ('sealed_at', models.DateTimeField()),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('team', 'number'), name='seal_number_once')],
            },
        ),
        migrations.CreateModel(
            name='Erasure',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('end_user_id', models.UUIDField()),
                ('actor', models.CharField(max_length=200)),
                ('reason', models.TextField(blank=True, default='')),
                ('counts', models.JSONField(default=dict)),
                ('at', models.DateTimeField()),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-at'],
                'constraints': [models.UniqueConstraint(fields=('team', 'end_user_id'), name='erasure_once')],
            },
        ),
        tenant_table("audit_seal", rights="SELECT, INSERT"),
        append_only("audit_seal"),
        tenant_table("audit_erasure", rights="SELECT"),
        append_only("audit_erasure"),
        # Tells the transaction that is erasing; written by the database alone.
        migrations.RunSQL(
            "ALTER TABLE audit_erasure ADD COLUMN xact xid8 NOT NULL DEFAULT pg_current_xact_id();"
            "CREATE INDEX audit_erasure_by_xact ON audit_erasure (xact)",
            migrations.RunSQL.noop,
        ),
        *(
            migrations.RunSQL((SQL / f"{name}.sql").read_text(), migrations.RunSQL.noop)
            for name in ("enter_log", "seals", "erasure", "erasure_guards")
        ),
    ]

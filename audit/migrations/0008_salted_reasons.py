from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"

# What a seal made now would note: the last commit of its rows and of those of the seals before.
BACKFILL = """
ALTER TABLE audit_seal DISABLE TRIGGER append_only;
UPDATE audit_seal s SET upto_position = upto.position
FROM (
    SELECT team_id, number, max(position) OVER (PARTITION BY team_id ORDER BY number) AS position
    FROM (
        SELECT s.team_id, s.number, max(c.position) AS position
        FROM audit_seal s
        JOIN audit_memorylog l ON l.team_id = s.team_id AND l.seq > s.after_seq AND l.seq <= s.last_seq
        JOIN audit_logcommit c ON c.team_id = l.team_id AND c.id = l.commit_id
        GROUP BY s.team_id, s.number
    ) AS own
) AS upto
WHERE upto.team_id = s.team_id AND upto.number = s.number;
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE audit_seal ENABLE TRIGGER append_only;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0007_event_partitions'),
    ]

    operations = [
        migrations.AddField(
            model_name='memorylog',
            name='reason_digest',
            field=models.BinaryField(max_length=32, null=True),
        ),
        migrations.AddField(
            model_name='memorylog',
            name='reason_salt',
            field=models.BinaryField(max_length=16, null=True),
        ),
        migrations.AddField(
            model_name='seal',
            name='upto_position',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddIndex(
            model_name='memorylog',
            index=models.Index(fields=['team', 'seq'], name='memory_log_by_number'),
        ),
        migrations.RunSQL(BACKFILL, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name='seal',
            index=models.Index(fields=['team', 'upto_position'], name='seal_by_position'),
        ),
        *(
            migrations.RunSQL((SQL / f"{name}.sql").read_text(), migrations.RunSQL.noop)
            for name in ("enter_log", "erasure", "leaves")
        ),
    ]

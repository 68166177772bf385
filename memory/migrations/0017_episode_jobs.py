"""Episodes are made by jobs of their own, and may name links; insights forget no messages."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0016_consolidation'),
        ('teams', '0010_episodes_and_insights'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='job',
            name='job_range_once',
        ),
        migrations.AddField(
            model_name='job',
            name='kind',
            field=models.CharField(choices=[('extract', 'Extraction'), ('episode', 'Episode')], db_default='extract', default='extract', max_length=10),
        ),
        migrations.AlterField(
            model_name='memoryartifact',
            name='kind',
            field=models.CharField(choices=[('commit', 'commit'), ('pr', 'pr'), ('adr', 'adr'), ('file', 'file'), ('link', 'link')], max_length=10),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(fields=('team', 'conversation', 'from_position', 'kind'), name='job_range_of_kind_once'),
        ),
        migrations.RunSQL(
            (SQL / "insights_forget_nothing.sql").read_text(), migrations.RunSQL.noop
        ),
    ]

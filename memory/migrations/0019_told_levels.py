"""How much of a memory prompts tell at most."""

from pathlib import Path

from django.db import migrations, models

MEMORY_SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0018_tiers_and_purge'),
    ]

    operations = [
        migrations.AddField(
            model_name='memorylevels',
            name='told_at_most',
            field=models.CharField(choices=[('content', 'content'), ('summary', 'summary'), ('compressed', 'compressed')], db_default='content', default='content', max_length=20),
        ),
        migrations.AddConstraint(
            model_name='memorylevels',
            constraint=models.CheckConstraint(condition=models.Q(('told_at_most__in', ['content', 'summary', 'compressed'])), name='memory_levels_told_known'),
        ),
        migrations.RunSQL((MEMORY_SQL / "told_levels.sql").read_text(), migrations.RunSQL.noop),
    ]

"""Keys that expire, and keys that only read."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql" / "key_limits.sql"


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0010_episodes_and_insights'),
    ]

    operations = [
        migrations.AddField(
            model_name='apikey',
            name='expires_at',
            field=models.DateTimeField(blank=True, help_text='From then on it is refused; empty for never.', null=True),
        ),
        migrations.AddField(
            model_name='apikey',
            name='is_read_only',
            field=models.BooleanField(db_default=False, default=False, help_text='It may ask, and change nothing.', verbose_name='read-only'),
        ),
        migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop),
    ]

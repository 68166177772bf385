"""Windows of messages that fail are set aside, and jobs say since when they wait."""

from django.db import migrations, models
from django.db.models.functions import Now

STATES = [
    ('queued', 'Queued'),
    ('running', 'Running'),
    ('done', 'Done'),
    ('failed', 'Failed'),
    ('set_aside', 'Set aside'),
]


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0020_team_facts_and_links'),
        ('teams', '0010_episodes_and_insights'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='one_by_one_to',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text='The messages up to here are read one at a time, as one of them fails.'),
        ),
        migrations.AddField(
            model_name='job',
            name='queued_at',
            field=models.DateTimeField(db_default=Now(), help_text="Since when it waits, if it does; the database's clock."),
        ),
        migrations.AlterField(
            model_name='job',
            name='state',
            field=models.CharField(choices=STATES, default='queued', max_length=20),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state', 'set_aside')), fields=['team', '-finished_at'], name='job_set_aside_by_time'),
        ),
    ]

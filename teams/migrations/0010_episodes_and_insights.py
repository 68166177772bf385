"""Teams say when a sitting of talk is over, and people whether insights about them are made."""

from pathlib import Path

import django.core.validators
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0009_lifecycle_settings'),
    ]

    operations = [
        migrations.AddField(
            model_name='conversation',
            name='episode_position',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='enduser',
            name='has_insights',
            field=models.BooleanField(db_default=True, default=True, help_text='Whether insights about this person are made.'),
        ),
        migrations.AddField(
            model_name='enduser',
            name='insights_at',
            field=models.DateTimeField(editable=False, help_text='When they were last looked for.', null=True),
        ),
        migrations.AddField(
            model_name='team',
            name='episode_rest_hours',
            field=models.PositiveSmallIntegerField(blank=True, help_text='Hours without a message after which a sitting of talk becomes an episode; empty for the usual.', null=True, validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.CheckConstraint(condition=models.Q(('episode_rest_hours__isnull', True), ('episode_rest_hours__gte', 1), _connector='OR'), name='team_episode_rest_positive'),
        ),
        migrations.RunSQL(
            (SQL / "team_document_with_episodes.sql").read_text(), migrations.RunSQL.noop
        ),
    ]

"""The source of each memory, and no search entries for tool output and pages of any role.

Nothing here reads the table: 0005 checks its rows and builds the index while others write.
"""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from teams.tenancy_sql import sql_files


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0003_lexemes'),
        ('teams', '0005_sources'),
    ]

    operations = [
        *sql_files(__file__, "message_entries"),
        migrations.AddField(
            model_name='memory',
            name='source',
            field=models.CharField(choices=[('person', 'person'), ('agent', 'agent'), ('tool', 'tool'), ('web', 'web')], db_default='agent', default='agent', max_length=10),
        ),
        AddConstraintNotValid(
            model_name='memory',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['person', 'agent', 'tool', 'web'])), name='memory_source_known'),
        ),
        AddConstraintNotValid(
            model_name='memory',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('source__in', ('tool', 'web')), _negated=True), models.Q(('is_pinned', False), models.Q(('memory_type__in', ('identity', 'user_profile', 'shared')), _negated=True)), _connector='OR'), name='memory_unconfirmed_is_plain'),
        ),
    ]

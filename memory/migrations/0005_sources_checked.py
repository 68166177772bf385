"""Checks the stored sources and builds their index while others read and write."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

# Stores of a development version may have it.
_INDEX = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS memory_unconfirmed ON memory_memory (team_id, id)
WHERE status IN ('active', 'disputed') AND source IN ('tool', 'web')
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('memory', '0004_sources'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(["SET lock_timeout = 0", _INDEX, "SET lock_timeout = '3s'"], migrations.RunSQL.noop)],
            state_operations=[
                migrations.AddIndex(
                    model_name='memory',
                    index=models.Index(condition=models.Q(('status__in', ('active', 'disputed')), ('source__in', ('tool', 'web'))), fields=['team', 'id'], name='memory_unconfirmed'),
                ),
            ],
        ),
        ValidateConstraint(model_name='memory', name='memory_source_known'),
        ValidateConstraint(model_name='memory', name='memory_unconfirmed_is_plain'),
    ]

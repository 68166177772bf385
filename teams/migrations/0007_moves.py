"""Teams that are frozen while they are moved to another deployment, and those that have moved."""

from django.db import migrations, models

from teams.tenancy_sql import sql_files


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0006_parts_of_tables'),
    ]

    operations = [
        migrations.AddField(
            model_name='team',
            name='frozen_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='team',
            name='exported_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='team',
            name='moved_to',
            field=models.URLField(blank=True, db_default='', default='', editable=False),
        ),
        migrations.AddIndex(
            model_name='team',
            index=models.Index(condition=models.Q(('frozen_at__isnull', False)), fields=['id'], name='team_frozen'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.CheckConstraint(condition=models.Q(('moved_to', ''), models.Q(('exported_at__isnull', False), ('frozen_at__isnull', False)), _connector='OR'), name='team_moved_is_frozen'),
        ),
        *sql_files(__file__, "moves"),
    ]

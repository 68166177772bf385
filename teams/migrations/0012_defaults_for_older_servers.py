"""Defaults in the database, so that servers of 0.1.0 can write while an upgrade goes on."""

import teams.domain.team_settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0011_key_limits'),
    ]

    operations = [
        migrations.AlterField(
            model_name='team',
            name='context_settings',
            field=models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict, help_text='How facts are chosen and told as read-only context, where it differs from the defaults.'),
        ),
        migrations.AlterField(
            model_name='team',
            name='lifecycle_settings',
            field=models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict, help_text='When memories are merged, shortened, ranked and forgotten, where it differs from the defaults.'),
        ),
        migrations.AlterField(
            model_name='team',
            name='sensitive_fields',
            field=models.JSONField(blank=True, db_default=models.Value(['preferred_name', 'name', 'pronouns', 'city', 'language'], models.JSONField()), default=teams.domain.team_settings.default_sensitive_fields, help_text='Profile fields of a person that change only with a yes.'),
        ),
    ]

"""Whether a key was rotated."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0012_defaults_for_older_servers'),
    ]

    operations = [
        migrations.AddField(
            model_name='apikey',
            name='rotated_at',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]

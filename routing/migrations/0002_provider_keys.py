"""Providers' API keys, encrypted."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('routing', '0001_initial'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='provider',
            name='encrypted_key',
            field=models.TextField(blank=True, db_default='', default='', editable=False),
        ),
        migrations.AddConstraint(
            model_name='provider',
            constraint=models.CheckConstraint(condition=models.Q(('key_variable', ''), ('encrypted_key', ''), _connector='OR'), name='provider_has_one_key'),
        ),
    ]

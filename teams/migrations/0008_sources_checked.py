"""Checks the stored sources of messages while others read and write."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0007_moves'),
    ]

    operations = [
        ValidateConstraint(model_name='message', name='message_source_known'),
    ]

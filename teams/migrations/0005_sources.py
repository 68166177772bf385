"""The stated source of a message, where it is weaker than the role's."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0004_invitations'),
    ]

    operations = [
        migrations.AddField(
            model_name='message',
            name='source',
            field=models.CharField(blank=True, choices=[('agent', 'Agent'), ('tool', 'Tool'), ('web', 'Web page')], db_default='', default='', max_length=10),
        ),
        AddConstraintNotValid(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['', 'agent', 'tool', 'web'])), name='message_source_known'),
        ),
    ]

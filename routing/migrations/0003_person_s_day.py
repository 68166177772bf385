"""Routing: words of a choice, which the database does not know."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('routing', '0002_provider_keys'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='spendtotal',
                    name='kind',
                    field=models.CharField(choices=[('user_day', "Person's day"), ('team_month', "Team's month"), ('agent_day', "Agent's day"), ('agent_month', "Agent's month"), ('team_day', "Team's day")], max_length=20),
                ),
            ],
        ),
    ]

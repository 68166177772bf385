"""How often each memory was retrieved by day; of the days before, nothing is known."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0005_consent_requests")]

    operations = [
        migrations.AddField(
            model_name="memoryusage",
            name="daily",
            field=models.JSONField(db_default={}, default=dict, editable=False),
        ),
    ]

"""The rows of the log by which an approved consent request can be undone."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("memory", "0032_audience")]

    operations = [
        migrations.AddField(
            model_name="consentrequest",
            name=name,
            field=models.BigIntegerField(editable=False, null=True),
        )
        for name in ("commit_id", "first_seq", "last_seq")
    ]

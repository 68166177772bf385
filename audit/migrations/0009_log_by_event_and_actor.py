from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0008_salted_reasons'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='memorylog',
            index=models.Index(fields=['team', 'event', 'seq'], name='memory_log_by_event'),
        ),
        migrations.AddIndex(
            model_name='memorylog',
            index=models.Index(fields=['team', 'actor', 'seq'], name='memory_log_by_actor'),
        ),
    ]

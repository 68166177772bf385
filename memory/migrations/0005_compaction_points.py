from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0004_search_layout'),
    ]

    operations = [
        migrations.AddField(
            model_name='compaction',
            name='points',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name='job',
            name='done_position',
            field=models.PositiveIntegerField(default=0, help_text='The messages up to here are extracted.'),
        ),
        migrations.AddField(
            model_name='job',
            name='left_out',
            field=models.PositiveIntegerField(blank=True, help_text='How many candidates the caps kept out; empty before anything was extracted.', null=True),
        ),
    ]

"""Memories expire and are purged, and runs find what to rank and to forget by an index."""

from pathlib import Path

from django.db import migrations, models

MEMORY_SQL = Path(__file__).parent.parent / "sql"
AUDIT_SQL = Path(__file__).parent.parent.parent / "audit" / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0017_episode_jobs'),
        ('teams', '0009_lifecycle_settings'),
        ('audit', '0003_names_of_people'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='memory',
            name='memory_status_known',
        ),
        migrations.AddField(
            model_name='memory',
            name='purge_at',
            field=models.DateTimeField(blank=True, editable=False, help_text='Until then an expired memory can be restored; what people delete has none.', null=True),
        ),
        migrations.AlterField(
            model_name='memory',
            name='status',
            field=models.CharField(choices=[('active', 'active'), ('disputed', 'disputed'), ('superseded', 'superseded'), ('soft_deleted', 'soft_deleted'), ('purged', 'purged'), ('archived', 'archived')], default='active', max_length=20),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('status__in', ('active', 'disputed')), ('importance__lt', 9), ('is_pinned', False), ('tier', 'hot')), fields=['team', 'id'], name='memory_hot_by_use'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('status', 'superseded'), models.Q(('tier', 'cold'), _negated=True)), fields=['team', 'id'], name='memory_past_not_cold'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('importance__lt', 8), ('is_pinned', False), ('status', 'active'), models.Q(('tier', 'cold'), _negated=True), ('valid_to__isnull', False)), fields=['team', 'valid_to', 'id'], name='memory_outdated'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('importance__lt', 8), ('is_pinned', False), ('status', 'active')), fields=['team', 'importance', 'created_at', 'id'], name='memory_unprotected'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('purge_at__isnull', False), ('status', 'soft_deleted')), fields=['team', 'purge_at'], name='memory_to_purge'),
        ),
        migrations.AddConstraint(
            model_name='memory',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['active', 'disputed', 'superseded', 'soft_deleted', 'purged', 'archived'])), name='memory_status_known'),
        ),
        migrations.AddConstraint(
            model_name='memory',
            constraint=models.CheckConstraint(condition=models.Q(('purge_at__isnull', True), ('status__in', ['soft_deleted', 'purged']), _connector='OR'), name='memory_purge_of_deleted'),
        ),
        migrations.RunSQL(
            "\n".join(
                [
                    (AUDIT_SQL / "memory_log.sql").read_text(),
                    (AUDIT_SQL / "erasure.sql").read_text(),
                    (MEMORY_SQL / "purge.sql").read_text(),
                ]
            ),
            migrations.RunSQL.noop,
        ),
    ]

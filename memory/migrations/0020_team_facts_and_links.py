"""Facts of a team that several people state wait for a yes, and edges say why they were found."""

from pathlib import Path

from django.db import migrations, models

AUDIT_SQL = Path(__file__).parent.parent.parent / "audit" / "sql"
KINDS = [
    ('profile_field', 'Profile field'),
    ('team_preference', 'Team preference'),
    ('workflow', 'Workflow'),
    ('team_fact', 'Team fact'),
]


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0019_told_levels'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='consentrequest',
            name='consent_state_known',
        ),
        migrations.AlterField(
            model_name='consentrequest',
            name='kind',
            field=models.CharField(choices=KINDS, default='profile_field', max_length=20),
        ),
        migrations.AddConstraint(
            model_name='consentrequest',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'team_fact'), ('state', 'waiting')), fields=('team', 'value_key'), name='consent_team_fact_once'),
        ),
        migrations.AddConstraint(
            model_name='consentrequest',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['profile_field', 'team_preference', 'workflow', 'team_fact']), ('state__in', ['waiting', 'approved', 'rejected', 'expired'])), name='consent_state_known'),
        ),
        migrations.AddField(
            model_name='memoryrelation',
            name='grounds',
            field=models.CharField(blank=True, db_default='', default='', max_length=60),
        ),
        migrations.AddIndex(
            model_name='memoryrelation',
            index=models.Index(condition=models.Q(('grounds', ''), _negated=True), fields=['team', 'id'], name='memory_relation_discovered'),
        ),
        migrations.RunSQL((AUDIT_SQL / "erasure.sql").read_text(), migrations.RunSQL.noop),
    ]

from pathlib import Path

import django.contrib.postgres.fields
import django.contrib.postgres.search
import django.db.models.deletion
import pgvector.django.halfvec

from django.db import migrations, models

from teams.tenancy_sql import tenant_references, tenant_table

SQL = Path(__file__).parent.parent / "sql"


def _owner(target: str, *, null: bool = False) -> models.ForeignKey:
    return models.ForeignKey(db_constraint=False, db_index=False, editable=False, null=null, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=target)


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0006_category'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='MessageEntry',
            fields=[
                ('message', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='teams.message')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('conversation', _owner('teams.conversation')),
                ('agent', _owner('teams.agent')),
                ('end_user', _owner('teams.enduser')),
                ('project', _owner('teams.project', null=True)),
                ('position', models.PositiveIntegerField(editable=False)),
                ('said_at', models.DateTimeField(editable=False)),
                ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant'), ('system', 'System'), ('tool', 'Tool')], editable=False, max_length=20)),
                ('people', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_default=models.Value([]), default=list, size=None)),
                ('is_waiting', models.BooleanField(db_default=True, default=True)),
                ('is_forgotten', models.BooleanField(db_default=False, default=False, editable=False)),
                ('embedding', pgvector.django.halfvec.HalfVectorField(null=True)),
                ('embedding_model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('next_embedding', pgvector.django.halfvec.HalfVectorField(null=True)),
                ('next_model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('lexemes', django.contrib.postgres.search.SearchVectorField(db_default='', default='')),
            ],
            options={
                'verbose_name_plural': 'message entries',
                'indexes': [
                    models.Index(fields=['team', 'conversation', 'position'], name='memory_message_in_conversation'),
                    models.Index(fields=['team', 'end_user', 'agent'], name='memory_message_by_owner'),
                    models.Index(condition=models.Q(('is_waiting', True)), fields=['team', 'message'], name='memory_message_waiting'),
                ],
            },
        ),
        migrations.AddIndex(
            model_name='searchentry',
            index=models.Index(condition=models.Q(('place', 1)), fields=['team', 'end_user'], name='memory_search_cold'),
        ),
        tenant_table("memory_messageentry", rights="SELECT, INSERT, UPDATE", key="message_id"),
        tenant_references(
            "memory_messageentry",
            [
                ("message_id", "teams_message"),
                ("conversation_id", "teams_conversation"),
                ("agent_id", "teams_agent"),
                ("end_user_id", "teams_enduser"),
                ("project_id", "teams_project"),
            ],
        ),
        migrations.RunSQL((SQL / "message_layout.sql").read_text()),
    ]

"""OAuth: registered clients, grants and their tokens."""

import django.contrib.postgres.fields
import django.db.models.deletion
import teams.ids
from django.conf import settings
from django.db import migrations, models

from teams.tenancy_sql import sql_files, tenant_references, tenant_table


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('teams', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Client',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('redirect_uris', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2000), size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('is_read_only', models.BooleanField(default=False, verbose_name='read-only')),
                ('resource', models.CharField(max_length=2000, verbose_name='MCP endpoint')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('used_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('agent', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.agent')),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='grants', to='oauth.client')),
                ('end_user', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.enduser', verbose_name='person')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='login')),
            ],
            options={
                'verbose_name': 'MCP sign-in',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('code', 'authorization code'), ('access', 'access token'), ('refresh', 'refresh token')], max_length=10)),
                ('digest', models.BinaryField(max_length=32, unique=True)),
                ('redirect_uri', models.CharField(blank=True, default='', max_length=2000)),
                ('code_challenge', models.CharField(blank=True, default='', max_length=43)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('grant', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tokens', to='oauth.grant')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['team', 'grant'], name='oauth_token_by_grant')],
            },
        ),
        tenant_table("oauth_grant", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_table("oauth_token", rights="SELECT, INSERT, UPDATE, DELETE"),
        tenant_references(
            "oauth_grant", [("agent_id", "teams_agent"), ("end_user_id", "teams_enduser")]
        ),
        tenant_references("oauth_token", [("grant_id", "oauth_grant")]),
        *sql_files(__file__, "oauth"),
    ]

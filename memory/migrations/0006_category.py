import django.core.validators
import django.db.models.deletion
import teams.ids
from pathlib import Path

from django.db import migrations, models

from teams.tenancy_sql import tenant_table

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0005_compaction_points'),
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Category',
            fields=[
                ('id', models.UUIDField(default=teams.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('description', models.CharField(blank=True, default='', max_length=500)),
                ('context', models.CharField(choices=[('all', 'All: every one of its memories goes into an answer that asks for it'), ('rag', 'RAG: only what the question finds')], default='rag', max_length=10)),
                ('length', models.PositiveIntegerField(blank=True, help_text='How many of its memories one answer holds at most; empty for no limit.', null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.team')),
            ],
            options={
                'verbose_name_plural': 'categories',
                'ordering': ['name'],
                'constraints': [
                    models.UniqueConstraint(fields=('team', 'name'), name='category_name_once'),
                    models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='category_name_not_empty'),
                    models.CheckConstraint(condition=models.Q(('context__in', ['all', 'rag'])), name='category_context_known'),
                    models.CheckConstraint(condition=models.Q(('length__isnull', True), ('length__gte', 1), _connector='OR'), name='category_length_positive'),
                ],
            },
        ),
        tenant_table("memory_category", rights="SELECT, INSERT, UPDATE, DELETE"),
        migrations.RunSQL((SQL / "key_categories.sql").read_text(), reverse_sql=migrations.RunSQL.noop),
    ]

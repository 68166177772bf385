"""Quality and speed, measured by hand with the settings that manage.py uses."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

"""Backups of the database: a dump of one snapshot with a manifest, and the way back."""

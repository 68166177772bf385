"""Which facts a request is told as authoritative: seed 001's rules, as plain functions."""

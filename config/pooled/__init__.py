"""Django's PostgreSQL backend with a cheaper look at the connections of its pool."""

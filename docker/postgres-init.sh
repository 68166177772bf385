#!/bin/bash
# Runs once, in an empty data volume: two logins, the database, the extension. The owner makes
# tables; the application gets only the rights that migrations grant it.
set -euo pipefail

psql --set ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv owner_password POSTGRES_OWNER_PASSWORD
\getenv app_password POSTGRES_APP_PASSWORD
CREATE ROLE palimpsest_owner LOGIN CREATEROLE PASSWORD :'owner_password';
CREATE ROLE palimpsest_app LOGIN PASSWORD :'app_password';
GRANT palimpsest_app TO palimpsest_owner;
GRANT SET ON PARAMETER session_replication_role TO palimpsest_owner;
CREATE DATABASE palimpsest OWNER palimpsest_owner;
REVOKE CONNECT ON DATABASE palimpsest FROM PUBLIC;
GRANT CONNECT ON DATABASE palimpsest TO palimpsest_app;
\connect palimpsest
CREATE EXTENSION vector;
SQL

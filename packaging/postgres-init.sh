#!/bin/sh
# Creates the service's login, role and database in a new cluster. PostgreSQL's image runs it once.
# The login owns the database. Neither the login nor the role has other privileges.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$DATABASE_PASSWORD" --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
CREATE ROLE roadmap LOGIN PASSWORD :'password';
CREATE ROLE roadmap_service NOLOGIN;
GRANT roadmap_service TO roadmap;
CREATE DATABASE roadmap OWNER roadmap;
SQL

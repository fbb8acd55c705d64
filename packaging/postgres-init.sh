#!/bin/sh
# Makes the service's login, its role and its database, in a new cluster. The image of PostgreSQL runs it once.
# Neither has any privilege of its own but that the database belongs to the login.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$DATABASE_PASSWORD" --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
CREATE ROLE roadmap LOGIN PASSWORD :'password';
CREATE ROLE roadmap_service NOLOGIN;
GRANT roadmap_service TO roadmap;
CREATE DATABASE roadmap OWNER roadmap;
SQL

#!/bin/sh
# Makes the service's login and its database, in a new cluster. The image of PostgreSQL runs it once.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$DATABASE_PASSWORD" --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
CREATE ROLE roadmap LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE roadmap OWNER roadmap;
SQL

-- The job queue makes its tables by itself, under a lock, but not its schema: servers that start together would be in each
-- other's way.
create schema if not exists jobs;

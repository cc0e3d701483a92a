-- A key grant may end by itself. A request for access may say for how long the person needs the keys.
alter table key_grants add column ends_at timestamptz(3);
create index key_grants_ending on key_grants (ends_at) where ends_at is not null;

alter table access_requests add column for_seconds integer;

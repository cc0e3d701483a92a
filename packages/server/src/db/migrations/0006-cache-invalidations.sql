-- What caches must forget is no change request: the table is named after what it holds.
alter table changes rename to cache_invalidations;
alter index changes_xid rename to cache_invalidations_xid;

create or replace function record_secret_change() returns trigger language plpgsql as $$
begin
  insert into cache_invalidations (org_id, environment_id) select distinct org_id, environment_id from changed;
  return null;
end $$;

create or replace function record_org_change() returns trigger language plpgsql as $$
begin
  insert into cache_invalidations (org_id) select distinct org_id from changed;
  return null;
end $$;

create or replace function record_secret_write() returns trigger language plpgsql as $$
begin
  insert into cache_invalidations (org_id, environment_id) values (new.org_id, new.environment_id);
  return null;
end $$;

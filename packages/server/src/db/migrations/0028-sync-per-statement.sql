-- A group of writes invalidates several environments in one statement: sync is told once for all of them.

drop trigger cache_invalidations_sync on cache_invalidations;
create or replace function note_sync_change() returns trigger language plpgsql as $$
begin
  insert into sync_changes (org_id, environment_id)
  select c.org_id, c.environment_id from changed c
   where exists (select from sync_bindings b where b.org_id = c.org_id);
  return null;
end $$;
create trigger cache_invalidations_sync after insert on cache_invalidations referencing new table as changed
  for each statement execute function note_sync_change();

-- An insert that may update fires the triggers of both events, and one of the two has often nothing to tell.
create or replace function record_secret_change() returns trigger language plpgsql as $$
begin
  if exists (select from changed) then
    insert into cache_invalidations (org_id, environment_id) select distinct org_id, environment_id from changed;
  end if;
  return null;
end $$;

-- What a write of a secret tells, for less: each of these ran for every secret of a group of writes.

-- Of a statement now, as deletions always were: groups hold several secrets of an environment, and a re-key all of them.
-- Two triggers, because one with a transition table is of one event.
drop trigger secrets_written on secrets;
drop function record_secret_write();
create trigger secrets_inserted after insert on secrets referencing new table as changed
  for each statement execute function record_secret_change();
create trigger secrets_updated after update on secrets referencing new table as changed
  for each statement execute function record_secret_change();

-- No insert is begun where the organization has no binding.
create or replace function note_sync_change() returns trigger language plpgsql as $$
begin
  if exists (select from sync_bindings b where b.org_id = new.org_id) then
    insert into sync_changes (org_id, environment_id) values (new.org_id, new.environment_id);
  end if;
  return null;
end $$;

-- Each write of a secret asks this. Nothing is begun to be written where the organization has no binding.
create or replace function note_sync_change() returns trigger language plpgsql as $$
begin
  if exists (select from sync_bindings b where b.org_id = new.org_id) then
    insert into sync_changes (org_id, environment_id) values (new.org_id, new.environment_id);
  end if;
  return null;
end $$;

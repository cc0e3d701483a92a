-- Entries that an operator has written to a file and removed: those of an organization's tree from `start` to before `size`.
-- Their hashes stay, so the trail can still be proven.
create table audit_archives (
  org_id      ascii not null references organizations,
  start       bigint not null,
  size        bigint not null check (size > start),
  sha256      ascii not null,
  created_at  timestamptz(3) not null,
  primary key (org_id, start)
);

create function refuse_unarchived() returns trigger language plpgsql as $$
begin
  if exists (select from audit_leaves l join audit_archives a on a.org_id = l.org_id and l.position < a.size
              where l.org_id = old.org_id and l.entry_id = old.id) then return old; end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

drop trigger audit_entries_append_only on audit_entries;
create trigger audit_entries_append_only before update on audit_entries
  for each row execute function refuse_change();
create trigger audit_entries_kept before delete on audit_entries
  for each row execute function refuse_unarchived();
create trigger audit_archives_append_only before update or delete on audit_archives
  for each row execute function refuse_change();

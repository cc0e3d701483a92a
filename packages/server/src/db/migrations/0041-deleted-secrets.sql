-- Deleted secrets that can still be restored. They have tables of their own, so that no query about live secrets can find
-- them: resolve, sync, quotas, grouped writes and a re-key read `secrets` alone.
create table deleted_secrets (
  org_id             ascii not null,
  id                 ascii not null,
  environment_id     ascii not null,
  name               ascii not null,
  current_version    integer not null check (current_version >= 1),
  -- Greater than current_version after a re-key: nobody has the key of any version, so it cannot be restored.
  key_since_version  integer not null,
  created_at         timestamptz(3) not null,
  deleted_by_type    text not null,
  deleted_by_id      ascii not null,
  deleted_at         timestamptz(3) not null,
  kept_until         timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, environment_id) references environments on delete cascade
);
create index deleted_secrets_by_time on deleted_secrets (org_id, environment_id, deleted_at, id);
create index deleted_secrets_expiry on deleted_secrets (kept_until);

create table deleted_secret_versions (
  org_id                 ascii not null,
  secret_id              ascii not null,
  version                integer not null check (version >= 1),
  ciphertext             text collate "C" not null,
  created_by_type        text not null,
  created_by_id          ascii not null,
  restored_from_version  integer,
  created_at             timestamptz(3) not null,
  primary key (org_id, secret_id, version),
  foreign key (org_id, secret_id) references deleted_secrets on delete cascade
);
alter table deleted_secret_versions alter column ciphertext set storage external;

-- A deletion may keep the secret. A restore or a deletion may be about a deleted secret: then there is no base. Its value
-- is encrypted anew by the client that restores it, so such a restore has a ciphertext.
alter table change_requests
  add column keep_for ascii check (keep_for is null or action = 'delete'),
  add column deleted_secret_id ascii check (deleted_secret_id is null or action <> 'put' and base_secret_id is null),
  drop constraint change_requests_check,
  add check (ciphertext is null or action = 'put' or action = 'restore' and deleted_secret_id is not null);

-- Nobody may read the value of a purged secret in a proposal to restore it.
create function forget_purged_values() returns trigger language plpgsql as $$
begin
  update change_requests c set ciphertext = null
    from deleted d
   where (c.org_id, c.deleted_secret_id) = (d.org_id, d.id) and c.ciphertext is not null;
  return null;
end $$;
create trigger deleted_secrets_purged after delete on deleted_secrets referencing old table as deleted
  for each statement execute function forget_purged_values();
create index change_requests_deleted_secret on change_requests (org_id, deleted_secret_id) where deleted_secret_id is not null;

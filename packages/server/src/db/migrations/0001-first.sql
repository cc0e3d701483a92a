-- Everything that Skerry stores is ciphertext, wrapped keys, public keys, names and records. No column here can open
-- another. Tenant tables lead with org_id in every key, so that a tenant's rows lie together and can be sharded, and
-- refer to each other by (org_id, id), so that no row can point into another tenant.

-- Ids, slugs and secret names are ASCII and compare by byte, whatever the locale of the database.
create domain ascii as text collate "C";

create table organizations (
  id          ascii primary key,
  name        text not null,
  slug        ascii not null constraint organizations_slug unique,
  -- Members need a second factor.
  mfa_required  boolean not null default false,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null
);

create table users (
  id                     ascii primary key,
  issuer                 text not null,
  subject                text not null,
  email                  text,
  name                   text,
  public_key_jwk         text,
  encrypted_private_key  text,
  created_at             timestamptz(3) not null,
  constraint users_subject unique (issuer, subject)
);

create table memberships (
  org_id      ascii not null references organizations,
  user_id     ascii not null references users,
  role        text not null check (role in ('owner', 'admin', 'member')),
  created_at  timestamptz(3) not null,
  primary key (org_id, user_id)
);
create index memberships_user on memberships (user_id);

create table invitations (
  org_id         ascii not null references organizations,
  id             ascii not null,
  email          text not null,
  role           text not null check (role in ('admin', 'member')),
  invited_by_id  ascii not null,
  created_at     timestamptz(3) not null,
  expires_at     timestamptz(3) not null,
  primary key (org_id, id),
  constraint invitations_email unique (org_id, email)
);
create index invitations_by_email on invitations (email);

create table machine_clients (
  org_id       ascii not null references organizations,
  id           ascii not null,
  name         text not null,
  secret_hash  ascii not null,
  created_at   timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index machine_clients_id on machine_clients (id);

create table machine_tokens (
  org_id      ascii not null,
  client_id   ascii not null,
  token_hash  ascii not null primary key,
  expires_at  timestamptz(3) not null,
  foreign key (org_id, client_id) references machine_clients on delete cascade
);
create index machine_tokens_client on machine_tokens (org_id, client_id);

create table applications (
  org_id      ascii not null references organizations,
  id          ascii not null,
  name        text not null,
  slug        ascii not null,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null,
  primary key (org_id, id),
  constraint applications_slug unique (org_id, slug)
);

create table groups (
  org_id      ascii not null references organizations,
  id          ascii not null,
  name        text not null,
  slug        ascii not null,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null,
  primary key (org_id, id),
  constraint groups_slug unique (org_id, slug)
);

create table environments (
  org_id                 ascii not null references organizations,
  id                     ascii not null,
  application_id         ascii,
  group_id               ascii,
  parent_environment_id  ascii,
  name                   text not null,
  slug                   ascii not null,
  expires_at             timestamptz(3),
  -- Both set: the environment is protected, and changes of its secrets need that many approvals.
  required_approvals     integer check (required_approvals >= 1),
  allow_self_approval    boolean,
  created_at             timestamptz(3) not null,
  updated_at             timestamptz(3) not null,
  primary key (org_id, id),
  check ((required_approvals is null) = (allow_self_approval is null)),
  foreign key (org_id, application_id) references applications on delete cascade,
  foreign key (org_id, group_id) references groups on delete cascade,
  foreign key (org_id, parent_environment_id) references environments on delete cascade,
  check (num_nonnulls(application_id, group_id) = 1),
  check (parent_environment_id is null or application_id is not null),
  check (expires_at is null or parent_environment_id is not null)
);
create unique index environments_id on environments (id);
create unique index environments_application_slug on environments (org_id, application_id, slug)
  where application_id is not null and parent_environment_id is null;
create unique index environments_group_slug on environments (org_id, group_id, slug) where group_id is not null;
create unique index environments_branch_slug on environments (org_id, parent_environment_id, slug)
  where parent_environment_id is not null;
create index environments_application on environments (org_id, application_id) where application_id is not null;
create index environments_expiry on environments (expires_at) where expires_at is not null;

create table compositions (
  org_id          ascii not null,
  environment_id  ascii not null,
  group_id        ascii not null,
  position        integer not null,
  primary key (org_id, environment_id, group_id),
  foreign key (org_id, environment_id) references environments on delete cascade,
  foreign key (org_id, group_id) references groups on delete cascade
);
create index compositions_group on compositions (org_id, group_id);

create table service_tokens (
  org_id           ascii not null references organizations,
  id               ascii not null,
  token_hash       ascii not null,
  name             text not null,
  role             text not null check (role in ('admin', 'member')),
  environment_id   ascii,
  public_key_jwk   text not null,
  created_by_type  text not null,
  created_by_id    ascii not null,
  created_at       timestamptz(3) not null,
  expires_at       timestamptz(3),
  revoked_at       timestamptz(3),
  deleted_at       timestamptz(3),
  primary key (org_id, id),
  constraint service_tokens_id unique (id),
  constraint service_tokens_hash unique (token_hash),
  foreign key (org_id, environment_id) references environments on delete cascade
);
create index service_tokens_environment on service_tokens (org_id, environment_id) where environment_id is not null;

-- Apart from service_tokens, so that noting a use does not look like a change of the token to the resolve cache.
create table service_token_uses (
  org_id        ascii not null,
  token_id      ascii not null,
  last_used_at  timestamptz(3) not null,
  primary key (org_id, token_id),
  foreign key (org_id, token_id) references service_tokens on delete cascade
);

create table key_grants (
  org_id           ascii not null,
  id               ascii not null,
  environment_id   ascii not null,
  principal_type   text not null check (principal_type in ('user', 'service_token')),
  principal_id     ascii not null,
  wrapped_dek      text collate "C" not null,
  granted_by_type  text not null,
  granted_by_id    ascii not null,
  created_at       timestamptz(3) not null,
  primary key (org_id, id),
  constraint key_grants_principal unique (org_id, environment_id, principal_type, principal_id),
  foreign key (org_id, environment_id) references environments on delete cascade
);
-- For what goes with a principal; and resolve finds the keys of one caller side by side.
create index key_grants_by_principal on key_grants (org_id, principal_type, principal_id, environment_id);

create table secrets (
  org_id           ascii not null,
  id               ascii not null,
  environment_id   ascii not null,
  name             ascii not null,
  current_version  integer not null check (current_version >= 1),
  -- As in that version: resolve reads the secrets of an environment where they lie together, and no versions.
  ciphertext       text collate "C" not null,
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  primary key (org_id, id),
  constraint secrets_name unique (org_id, environment_id, name),
  foreign key (org_id, environment_id) references environments on delete cascade
);

create table secret_versions (
  org_id                 ascii not null,
  secret_id              ascii not null,
  version                integer not null check (version >= 1),
  ciphertext             text collate "C" not null,
  created_by_type        text not null,
  created_by_id          ascii not null,
  restored_from_version  integer,
  created_at             timestamptz(3) not null,
  primary key (org_id, secret_id, version),
  foreign key (org_id, secret_id) references secrets on delete cascade
);
-- Ciphertext does not compress: trying costs time on every write and gains nothing.
alter table secrets alter column ciphertext set storage external;
alter table secret_versions alter column ciphertext set storage external;

-- The trail outlives what it tells of, so nothing here is a foreign key, and org_id is null for what concerns a person
-- outside of any organization. Partitioned by month, so that years of it can be archived by detaching tables.
create table audit_entries (
  org_id         ascii,
  id             ascii not null,
  action         ascii not null,
  actor_type     ascii not null,
  actor_id       ascii,
  resource_type  ascii not null,
  resource_id    ascii,
  metadata       jsonb not null,
  ip_address     text,
  user_agent     text,
  request_id     text,
  created_at     timestamptz(3) not null
) partition by range (created_at);
create index audit_entries_by_time on audit_entries (org_id, created_at, id);
create table audit_entries_rest partition of audit_entries default;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger audit_entries_append_only before update or delete on audit_entries
  for each row execute function refuse_change();
-- Triggers for each row pass on to partitions by themselves; those for a statement, as TRUNCATE is, each table needs.
create trigger audit_entries_no_truncate before truncate on audit_entries
  for each statement execute function refuse_change();
create trigger audit_entries_no_truncate before truncate on audit_entries_rest
  for each statement execute function refuse_change();

-- Makes the partition of a month, unless it is there or rows of that month already lie in the default one.
create function create_audit_partition(month date) returns void language plpgsql as $$
declare
  first date := date_trunc('month', month);
  partition text := 'audit_entries_' || to_char(first, 'YYYY_MM');
  from_instant timestamptz := first::timestamp at time zone 'UTC';
  to_instant timestamptz := (first + interval '1 month')::timestamp at time zone 'UTC';
begin
  -- Servers that start together all call this; the second must see what the first has made.
  perform pg_advisory_xact_lock(hashtext('create_audit_partition'));
  if to_regclass(partition) is not null then return; end if;
  if exists (select from audit_entries_rest where created_at >= from_instant and created_at < to_instant) then return; end if;
  execute format('create table %I partition of audit_entries for values from (%L) to (%L)',
                 partition, from_instant, to_instant);
  execute format('create trigger audit_entries_no_truncate before truncate on %I
                  for each statement execute function refuse_change()', partition);
end $$;

-- What the resolve cache of every server process must forget. A row is written in the transaction of the change; servers
-- read rows of transactions that they had not seen (db/invalidations.ts). environment_id null: the whole organization.
-- Not NOTIFY: that takes a lock over commit, which would make writers of the whole database wait for each other's fsync.
create table changes (
  org_id          ascii not null,
  environment_id  ascii,
  xid             xid8 not null default pg_current_xact_id(),
  at              timestamptz(3) not null default now()
);
create index changes_xid on changes (xid);

create function record_secret_change() returns trigger language plpgsql as $$
begin
  insert into changes (org_id, environment_id) select distinct org_id, environment_id from changed;
  return null;
end $$;

create function record_org_change() returns trigger language plpgsql as $$
begin
  insert into changes (org_id) select distinct org_id from changed;
  return null;
end $$;

-- Writes are told row by row, because they come in small groups at most; a deletion may be of thousands at once.
create function record_secret_write() returns trigger language plpgsql as $$
begin
  insert into changes (org_id, environment_id) values (new.org_id, new.environment_id);
  return null;
end $$;

create trigger secrets_written after insert or update on secrets
  for each row execute function record_secret_write();
create trigger secrets_deleted after delete on secrets referencing old table as changed
  for each statement execute function record_secret_change();

do $$
declare
  watched text;
begin
  foreach watched in array array['memberships', 'machine_clients', 'applications', 'groups', 'environments',
                                 'compositions', 'service_tokens', 'key_grants'] loop
    execute format('create trigger %I after insert on %I referencing new table as changed
                    for each statement execute function record_org_change()', watched || '_inserted', watched);
    execute format('create trigger %I after update on %I referencing new table as changed
                    for each statement execute function record_org_change()', watched || '_updated', watched);
    execute format('create trigger %I after delete on %I referencing old table as changed
                    for each statement execute function record_org_change()', watched || '_deleted', watched);
  end loop;
end $$;

-- A principal's grants go with it, however it went. Grants name users and tokens alike, so no foreign key can do this.
create function drop_token_grants() returns trigger language plpgsql as $$
begin
  delete from key_grants
   where org_id = old.org_id and principal_type = 'service_token' and principal_id = old.id;
  return null;
end $$;

create trigger service_tokens_gone after delete on service_tokens
  for each row execute function drop_token_grants();
create trigger service_tokens_hidden after update on service_tokens
  for each row when (old.deleted_at is null and new.deleted_at is not null) execute function drop_token_grants();

create function drop_member_grants() returns trigger language plpgsql as $$
begin
  delete from key_grants
   where org_id = old.org_id and principal_type = 'user' and principal_id = old.user_id;
  return null;
end $$;

create trigger memberships_gone after delete on memberships
  for each row execute function drop_member_grants();

-- What is metered and not audited, summed up by day.
create table usage_counts (
  org_id    ascii not null references organizations,
  metric    text not null,
  day       date not null,
  quantity  bigint not null,
  primary key (org_id, metric, day)
);

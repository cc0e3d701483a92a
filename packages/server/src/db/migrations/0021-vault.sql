-- The credential vault: what a product's users have connected. The server keeps it, and can open none of it.
create table vault_projects (
  org_id      ascii not null references organizations,
  id          ascii not null,
  name        text not null,
  display     jsonb not null,
  status      text not null check (status in ('active', 'disabled')),
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null,
  primary key (org_id, id)
);

create table vault_keys (
  org_id         ascii not null,
  id             ascii not null,
  project_id     ascii not null,
  name           text not null,
  key_hash       ascii not null,
  created_by_id  ascii not null,
  created_at     timestamptz(3) not null,
  revoked_at     timestamptz(3),
  primary key (org_id, id),
  constraint vault_keys_hash unique (key_hash),
  foreign key (org_id, project_id) references vault_projects
);
create index vault_keys_project on vault_keys (org_id, project_id, created_at, id);

create table vault_registration_codes (
  org_id      ascii not null,
  project_id  ascii not null,
  code_hash   ascii not null,
  created_at  timestamptz(3) not null,
  expires_at  timestamptz(3) not null,
  used_at     timestamptz(3),
  primary key (org_id, code_hash),
  constraint vault_registration_codes_hash unique (code_hash),
  foreign key (org_id, project_id) references vault_projects
);
create index vault_registration_codes_project on vault_registration_codes (org_id, project_id);
create index vault_registration_codes_old on vault_registration_codes (expires_at);

create table vault_executors (
  org_id           ascii not null,
  id               ascii not null,
  project_id       ascii not null,
  origin           text not null,
  catalog          jsonb not null,
  sdk_version      text not null,
  credential_hash  ascii not null,
  status           text not null check (status in ('active', 'disabled')),
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  primary key (org_id, id),
  constraint vault_executors_hash unique (credential_hash),
  foreign key (org_id, project_id) references vault_projects
);
create index vault_executors_project on vault_executors (org_id, project_id);
create unique index vault_executors_active on vault_executors (org_id, project_id) where status = 'active';

-- The newest one is current; what is wrapped to an earlier one, its executor still opens.
create table vault_wrapping_keys (
  org_id       ascii not null,
  executor_id  ascii not null,
  thumbprint   ascii not null,
  jwk          jsonb not null,
  current      boolean not null,
  created_at   timestamptz(3) not null,
  primary key (org_id, executor_id, thumbprint),
  foreign key (org_id, executor_id) references vault_executors
);

-- When a platform key, an executor or a connection was last used, to the minute.
create table vault_uses (
  org_id        ascii not null references organizations,
  id            ascii not null,
  last_used_at  timestamptz(3) not null,
  primary key (org_id, id)
);

-- Links that people open. The token of a link is spent by the first browser that claims it; what that browser gets instead
-- is good for half an hour, in which the session lives. What has expired is told by the clock.
create table vault_sessions (
  org_id            ascii not null,
  id                ascii not null,
  project_id        ascii not null,
  purpose           text not null check (purpose in ('connect', 'reconnect', 'manage')),
  user_ref          text not null,
  -- As the catalog had it when the link was made.
  provider          jsonb,
  connection_id     ascii,
  return_url        text,
  status            text not null check (status in ('pending', 'completed', 'cancelled')),
  token_hash        ascii not null,
  claim_hash        ascii,
  claim_expires_at  timestamptz(3),
  claimed_at        timestamptz(3),
  consented_at      timestamptz(3),
  consent_version   integer,
  completed_at      timestamptz(3),
  created_at        timestamptz(3) not null,
  expires_at        timestamptz(3) not null,
  primary key (org_id, id),
  constraint vault_sessions_token unique (token_hash),
  constraint vault_sessions_claim unique (claim_hash),
  foreign key (org_id, project_id) references vault_projects,
  check ((purpose = 'manage') = (provider is null) and (purpose = 'manage') = (connection_id is null)),
  check ((claim_hash is null) = (claimed_at is null) and (claim_hash is null) = (claim_expires_at is null))
);
create index vault_sessions_project on vault_sessions (org_id, project_id);
create index vault_sessions_connection on vault_sessions (org_id, connection_id) where status = 'pending';
create index vault_sessions_old on vault_sessions (expires_at);

create table vault_connections (
  org_id           ascii not null,
  id               ascii not null,
  project_id       ascii not null,
  user_ref         text not null,
  provider_id      ascii not null,
  provider_name    text not null,
  method           text not null check (method in ('api_key', 'oauth2', 'browser')),
  account_label    text,
  status           text not null check (status in ('active', 'reauth_required', 'revoked')),
  status_reason    text,
  consented_at     timestamptz(3) not null,
  consent_version  integer not null,
  revoked_at       timestamptz(3),
  revoked_by       text check (revoked_by in ('platform', 'end_user', 'org_admin', 'system')),
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, project_id) references vault_projects,
  check ((status = 'reauth_required') = (status_reason is not null)),
  check ((status = 'revoked') = (revoked_at is not null) and (revoked_at is null) = (revoked_by is null))
);
create index vault_connections_listed on vault_connections (org_id, project_id, created_at, id);
create index vault_connections_user on vault_connections (org_id, project_id, user_ref, created_at, id);

-- Encrypted to an executor. The current revision of each slot, and the one before.
create table vault_credentials (
  org_id         ascii not null,
  connection_id  ascii not null,
  slot           text not null check (slot in ('api_key', 'login', 'oauth2', 'session')),
  revision       integer not null check (revision >= 1),
  ciphertext     text collate "C" not null,
  wrapped_dek    text collate "C" not null,
  key_thumbprint ascii not null,
  created_at     timestamptz(3) not null,
  primary key (org_id, connection_id, slot, revision),
  foreign key (org_id, connection_id) references vault_connections
);

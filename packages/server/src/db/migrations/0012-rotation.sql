-- Secrets that the server replaces at intervals.
create table rotation_policies (
  org_id            ascii not null references organizations,
  id                ascii not null,
  -- null from the moment in which its environment is deleted: whoever deletes that removes it, with an audit entry
  environment_id    ascii,
  secret_name       ascii not null,
  kind              text not null check (kind in ('generated', 'postgres', 'mysql', 'redis')),
  config            jsonb not null,
  interval_seconds  integer not null check (interval_seconds between 300 and 31536000),
  -- null once the lease target was removed, and where there is none
  target_id         ascii,
  status            text not null check (status in ('active', 'paused')),
  last_run_at       timestamptz(3),
  next_run_at       timestamptz(3),
  last_version      integer,
  last_error        text,
  failure_streak    integer not null default 0,
  -- the run that has it, until when unless that says more: one at a time, whichever server does it
  claimed_by        ascii,
  claimed_until     timestamptz(3),
  created_at        timestamptz(3) not null,
  updated_at        timestamptz(3) not null,
  primary key (org_id, id),
  unique (org_id, environment_id, secret_name),
  check ((next_run_at is null) = (status = 'paused')),
  foreign key (org_id, environment_id) references environments on delete set null (environment_id),
  foreign key (org_id, target_id) references lease_targets (org_id, id) on delete set null (target_id)
);
create index rotation_policies_target on rotation_policies (org_id, target_id);
create index rotation_policies_by_creation on rotation_policies (org_id, created_at, id);

-- What a run is about to set on a target, sealed under the environment's key: the row is there before the target is
-- changed and until the version is written, so that whoever comes after a crash can find out which password is in force.
create table rotation_pending (
  org_id       ascii not null,
  rotation_id  ascii not null,
  -- which of two accounts that take turns
  username     text not null,
  ciphertext   text collate "C" not null,
  created_at   timestamptz(3) not null,
  primary key (org_id, rotation_id),
  foreign key (org_id, rotation_id) references rotation_policies on delete cascade
);

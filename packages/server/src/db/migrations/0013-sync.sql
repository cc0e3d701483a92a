-- Platforms to which secrets are copied. The credential is wrapped to the connection's own keypair (server_keypairs, purpose
-- sync), which is there before the connection is.
create table sync_connections (
  org_id              ascii not null references organizations,
  id                  ascii not null,
  name                text not null,
  provider            ascii not null,
  config              jsonb not null,
  wrapped_credential  ascii not null,
  status              text not null check (status in ('unverified', 'ready', 'failing')),
  last_error          text,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,
  primary key (org_id, id),
  unique (org_id, name)
);

create table sync_bindings (
  org_id          ascii not null references organizations,
  id              ascii not null,
  connection_id   ascii not null,
  environment_id  ascii not null,
  destination     jsonb not null,
  -- What it writes, as texts that name it completely, with the provider's tag: two bindings with one in common meet there.
  places          text[] not null,
  name_transform  jsonb not null,
  include         jsonb not null,
  exclude         jsonb not null,
  on_delete       text not null check (on_delete in ('keep', 'delete')),
  mode            text not null check (mode in ('auto', 'manual')),
  adopt           boolean not null,
  enabled         boolean not null,
  -- Counts changes of its settings: a run that began before one stops before it writes anything more.
  revision        integer not null,
  -- SHA-256 of the ciphertexts that the last run took up, and of that revision; null where a push is due in any case.
  taken_digest   ascii,
  failure_streak  integer not null,
  next_try_at     timestamptz(3),
  last_error      text,
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, connection_id) references sync_connections on delete cascade,
  foreign key (org_id, environment_id) references environments on delete cascade
);
create index sync_bindings_connection on sync_bindings (org_id, connection_id);
create index sync_bindings_environment on sync_bindings (org_id, environment_id);
create index sync_bindings_next_try on sync_bindings (org_id, next_try_at) where next_try_at is not null;

-- The environments that a binding reads, as resolve finds them: its own, a branch's parent, and each composed group's
-- environment of the same slug.
create view sync_layers as
  select b.org_id, b.id as binding_id, b.connection_id, l.environment_id
    from sync_bindings b
    join environments e on e.org_id = b.org_id and e.id = b.environment_id
    join environments base on base.org_id = e.org_id and base.id = coalesce(e.parent_environment_id, e.id)
   cross join lateral (
     select e.id as environment_id
     union
     select base.id
     union
     select g.id from compositions c
       join environments g on g.org_id = c.org_id and g.group_id = c.group_id and g.slug = base.slug
      where c.org_id = base.org_id and c.environment_id = base.id
   ) l;

-- The history. It outlives its binding, so the other ids are no foreign keys; the one who asked is there for the trail.
create table sync_runs (
  org_id          ascii not null references organizations,
  id              ascii not null,
  binding_id      ascii not null,
  connection_id   ascii not null,
  environment_id  ascii not null,
  trigger         text not null check (trigger in ('request', 'change', 'retry')),
  status          text not null check (status in ('running', 'succeeded', 'partial', 'failed')),
  -- Names at the destination that it may overwrite although somebody else wrote them.
  adopt           jsonb not null,
  origin          jsonb not null,
  pushed          jsonb not null,
  deleted         jsonb not null,
  failures        jsonb not null,
  unchanged       integer not null,
  error           text,
  started_at      timestamptz(3) not null,
  -- null while it waits for its turn
  taken_at        timestamptz(3),
  finished_at     timestamptz(3),
  primary key (org_id, id)
);
create index sync_runs_by_time on sync_runs (org_id, started_at desc, id desc);
create index sync_runs_by_binding on sync_runs (org_id, binding_id, started_at desc, id desc);
create index sync_runs_open on sync_runs (org_id, binding_id) where status = 'running';
-- What is asked for while one waits, that one does.
create unique index sync_runs_waiting on sync_runs (org_id, binding_id) where status = 'running' and taken_at is null;

-- Which names a binding wrote. Digests are keyed by the server key: they tell whether a value is the same, and nothing else.
create table sync_ledger (
  org_id           ascii not null,
  binding_id       ascii not null,
  name             text not null,
  -- Of the value that is known to be there; null before the first one is.
  value_digest     ascii,
  -- Of what the destination showed as its revision, where it shows any.
  revision_digest  ascii,
  memo             text,
  written_at       timestamptz(3),
  -- The run that is sending something for this name: until that is known to be done, what is there is not known.
  sending_run_id   ascii,
  primary key (org_id, binding_id, name),
  foreign key (org_id, binding_id) references sync_bindings on delete cascade
);

-- One run at a time for each place, on whichever server. A server that is gone no longer renews what it holds.
create table sync_places (
  org_id         ascii not null references organizations,
  place          text not null,
  run_id         ascii,
  held_until     timestamptz(3),
  last_pushed_at timestamptz(3),
  primary key (org_id, place)
);

-- What resolve would answer otherwise from now on, for bindings to look at: written with the change itself, by whatever
-- way it came, and taken away by whoever has looked. environment_id null: anything in the organization.
create table sync_changes (
  org_id          ascii not null,
  id              bigint generated always as identity,
  environment_id  ascii,
  primary key (org_id, id)
);

create function note_sync_change() returns trigger language plpgsql as $$
begin
  insert into sync_changes (org_id, environment_id)
  select new.org_id, new.environment_id
   where exists (select from sync_bindings b where b.org_id = new.org_id);
  return null;
end $$;
create trigger cache_invalidations_sync after insert on cache_invalidations
  for each row execute function note_sync_change();

-- Bindings that ended with what they stood on. The trail hears of them from here, with the cause.
create table sync_endings (
  org_id          ascii not null,
  binding_id      ascii not null,
  connection_id   ascii not null,
  environment_id  ascii not null,
  primary key (org_id, binding_id)
);

create function note_sync_ending() returns trigger language plpgsql as $$
begin
  insert into sync_endings (org_id, binding_id, connection_id, environment_id)
  values (old.org_id, old.id, old.connection_id, old.environment_id);
  return null;
end $$;
create trigger sync_bindings_ended after delete on sync_bindings
  for each row execute function note_sync_ending();

-- When an entry was written, as transactions count: entries of transactions that have ended before the oldest one that is
-- still open are all there, so the sealer needs no look back further than that. Instants do not tell it: an entry of a
-- slow transaction appears after younger ones.
alter table audit_entries add column xid xid8 not null default pg_current_xact_id();
create index audit_entries_by_xid on audit_entries (xid);

-- Up to where everything is sealed. Whoever seals locks the row, so that of several servers one does.
create table audit_sealing (
  is_only     boolean primary key default true check (is_only),
  xid         xid8 not null,
  created_at  timestamptz(3) not null,
  entry_id    ascii not null
);
insert into audit_sealing (xid, created_at, entry_id) values ('0', '-infinity', '');

-- One append-only Merkle tree (RFC 6962) for each organization, with the last note that the server has signed about it.
create table audit_trees (
  org_id      ascii primary key references organizations,
  size        bigint not null,
  root        bytea not null,
  checkpoint  text,
  grown_at    timestamptz(3) not null,
  -- Since when its stored hashes do not give its root: somebody has changed them, and nothing more is sealed.
  broken_at   timestamptz(3)
);

-- Leaves do not refer to entries, and outlive one that somebody takes away: so it is known which that was.
create table audit_leaves (
  org_id      ascii not null,
  position    bigint not null,
  entry_id    ascii not null,
  created_at  timestamptz(3) not null,
  hash        bytea not null,
  primary key (org_id, position)
);
create unique index audit_leaves_by_entry on audit_leaves (org_id, entry_id);

-- Hashes of complete subtrees of 16, 256, 4096 ... leaves. What lies between is soon hashed again.
create table audit_nodes (
  org_id    ascii not null,
  level     integer not null,
  position  bigint not null,
  hash      bytea not null,
  primary key (org_id, level, position)
);

create trigger audit_leaves_append_only before update or delete on audit_leaves
  for each row execute function refuse_change();
create trigger audit_nodes_append_only before update or delete on audit_nodes
  for each row execute function refuse_change();

-- Ed25519, for checkpoints and whatever else leaves the server to be checked elsewhere.
create table export_signing_keys (
  id                  ascii primary key,
  public_key          ascii not null,
  sealed_private_key  text not null,
  created_at          timestamptz(3) not null
);

-- Where an organization's entries are sent, and up to which of its tree they have arrived.
create table log_sinks (
  org_id           ascii primary key references organizations,
  endpoint         text not null,
  enabled          boolean not null,
  header_names     jsonb not null,
  sealed_headers   text not null,
  position         bigint not null,
  rejected         bigint not null default 0,
  tries            integer not null default 0,
  due_at           timestamptz(3) not null,
  last_attempt_at  timestamptz(3),
  last_success_at  timestamptz(3),
  last_error       text,
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null
);

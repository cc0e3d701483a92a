-- The signed directory: documents that people of the organization have signed, so that clients need not believe the server.
-- docs/directory-format.md has the format of the texts. Roots and heads are chains, and no row of them ever changes.
create table directory_roots (
  org_id      ascii not null references organizations,
  version     integer not null check (version >= 1),
  hash        ascii not null,
  text        ascii not null,
  created_at  timestamptz(3) not null,
  primary key (org_id, version),
  constraint directory_roots_hash unique (org_id, hash)
);

create table directory_heads (
  org_id        ascii not null references organizations,
  version       integer not null check (version >= 1),
  hash          ascii not null,
  root_version  integer not null,
  text          ascii not null,
  -- The number of entries, and the root of their tree.
  count         integer not null check (count >= 0),
  entries       ascii not null,
  created_at    timestamptz(3) not null,
  primary key (org_id, version),
  constraint directory_heads_hash unique (org_id, hash),
  foreign key (org_id, root_version) references directory_roots (org_id, version)
);
create index directory_heads_root on directory_heads (org_id, root_version);

-- An entry that ends keeps its row, so that the entries of every head can be shown.
create table directory_entries (
  org_id     ascii not null references organizations,
  key        ascii not null,
  -- The first head that has the entry, and the first one that does not have it any more.
  from_head  integer not null,
  to_head    integer check (to_head > from_head),
  text       text collate "C" not null,
  primary key (org_id, key, from_head),
  foreign key (org_id, from_head) references directory_heads (org_id, version),
  foreign key (org_id, to_head) references directory_heads (org_id, version)
);
create unique index directory_entries_current on directory_entries (org_id, key) where to_head is null;
create index directory_entries_from on directory_entries (org_id, from_head);
create index directory_entries_to on directory_entries (org_id, to_head) where to_head is not null;

-- An entry has a hash of its readers. This is the list behind each hash, as it was when the entry was signed: [[key, kid], …].
create table directory_readers (
  org_id   ascii not null references organizations,
  hash     ascii not null,
  readers  jsonb not null,
  primary key (org_id, hash)
);

-- What a reader of the parent says about a branch. Only readers of the parent can check it.
alter table environments
  add column branch_manifest text collate "C",
  add check (branch_manifest is null or parent_environment_id is not null);

-- Cached answers of resolve may have proofs.
create trigger directory_heads_inserted after insert on directory_heads referencing new table as changed
  for each statement execute function record_org_change();

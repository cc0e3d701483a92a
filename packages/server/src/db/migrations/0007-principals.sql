-- Whoever can hold a key, of whatever kind, and the keypairs of the server's own readers.

-- One table that key grants refer to, so that what a principal holds goes with it by the foreign key. Rows come and go
-- with those of the principal's own table, by triggers on that: no code can forget them. A service token that is deleted
-- for good keeps its row there, and is no principal any longer; neither is a decoy ever.
create table principals (
  org_id  ascii not null references organizations,
  type    text not null check (type in ('user', 'service_token', 'rotator', 'sync_connection')),
  id      ascii not null,
  primary key (org_id, type, id)
);

-- Arguments: the type, and the column that is the id.
create function add_principal() returns trigger language plpgsql as $$
begin
  insert into principals (org_id, type, id) values (new.org_id, tg_argv[0], to_jsonb(new) ->> tg_argv[1]);
  return null;
end $$;

create function drop_principal() returns trigger language plpgsql as $$
begin
  delete from principals where org_id = old.org_id and type = tg_argv[0] and id = to_jsonb(old) ->> tg_argv[1];
  return null;
end $$;

insert into principals (org_id, type, id) select org_id, 'user', user_id from memberships;
insert into principals (org_id, type, id) select org_id, 'service_token', id from service_tokens where deleted_at is null;

create trigger memberships_principal after insert on memberships
  for each row execute function add_principal('user', 'user_id');
create trigger memberships_no_principal after delete on memberships
  for each row execute function drop_principal('user', 'user_id');
create trigger service_tokens_principal after insert on service_tokens
  for each row when (new.deleted_at is null) execute function add_principal('service_token', 'id');
create trigger service_tokens_no_principal after delete on service_tokens
  for each row execute function drop_principal('service_token', 'id');
create trigger service_tokens_hidden_principal after update on service_tokens
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function drop_principal('service_token', 'id');

-- The foreign key does this from now on.
drop trigger memberships_gone on memberships;
drop trigger service_tokens_gone on service_tokens;
drop trigger service_tokens_hidden on service_tokens;
drop function drop_member_grants();
drop function drop_token_grants();

-- There should be none of nobody. Where one was left behind by hand, no request can use it.
delete from key_grants k where not exists (
  select from principals p where (p.org_id, p.type, p.id) = (k.org_id, k.principal_type, k.principal_id));
alter table key_grants drop constraint key_grants_principal_type_check;
alter table key_grants add foreign key (org_id, principal_type, principal_id) references principals on delete cascade;

-- Keypairs that the server holds, so that clients can wrap to it what it must use: credentials of lease targets (broker),
-- keys of environments for rotation (rotator) and for third-party sync (sync). The owner of the first two is the
-- organization, of the last a connection. Private halves are sealed under the server key (keys/keypairs.ts).
create table server_keypairs (
  org_id              ascii not null references organizations,
  purpose             text not null check (purpose in ('broker', 'rotator', 'sync')),
  owner_id            ascii not null,
  public_key_jwk      text not null,
  sealed_private_key  ascii not null,
  created_at          timestamptz(3) not null,
  primary key (org_id, purpose, owner_id)
);

-- Those two read secrets, so they hold grants: as long as they have a key, and no longer.
create trigger rotator_principal after insert on server_keypairs
  for each row when (new.purpose = 'rotator') execute function add_principal('rotator', 'owner_id');
create trigger rotator_no_principal after delete on server_keypairs
  for each row when (old.purpose = 'rotator') execute function drop_principal('rotator', 'owner_id');
create trigger sync_principal after insert on server_keypairs
  for each row when (new.purpose = 'sync') execute function add_principal('sync_connection', 'owner_id');
create trigger sync_no_principal after delete on server_keypairs
  for each row when (old.purpose = 'sync') execute function drop_principal('sync_connection', 'owner_id');

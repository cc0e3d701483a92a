-- Which account of a provider a connection is with: a digest that the executor makes, null where it cannot tell.
alter table vault_connections add column account_digest ascii;
alter table vault_sessions add column allow_account_change boolean not null default false;

-- Everything of one person is found when it is erased.
create index vault_sessions_user on vault_sessions (org_id, project_id, user_ref);
create index vault_deliveries_connection on vault_deliveries (org_id, connection_id) where connection_id is not null;
-- No delivery outlives its connection, whatever is written while the person is erased.
alter table vault_deliveries add foreign key (org_id, connection_id) references vault_connections on delete cascade;

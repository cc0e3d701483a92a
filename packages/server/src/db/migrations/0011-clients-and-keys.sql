-- Machine clients can be revoked, and are kept so that the audit trail's ids can be looked up.
alter table machine_clients add column revoked_at timestamptz(3);

-- Beside its table, as with service tokens: what is written each minute evicts nothing.
create table machine_client_uses (
  org_id        ascii not null,
  client_id     ascii not null,
  last_used_at  timestamptz(3) not null,
  primary key (org_id, client_id),
  foreign key (org_id, client_id) references machine_clients on delete cascade
);

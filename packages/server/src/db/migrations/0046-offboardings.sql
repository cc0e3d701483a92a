-- An offboarding revokes the credentials that the person made, so machine clients and agents need a column for their maker.
alter table machine_clients
  add column created_by_type  text,
  add column created_by_id    ascii;
update machine_clients c set created_by_type = e.actor_type, created_by_id = e.actor_id
  from audit_entries e
 where e.org_id = c.org_id and e.resource_id = c.id and e.action = 'machine_client.created';
alter table agents
  add column created_by_type  text,
  add column created_by_id    ascii;
update agents a set created_by_type = e.actor_type, created_by_id = e.actor_id
  from audit_entries e
 where e.org_id = a.org_id and e.resource_id = a.id and e.action = 'agent.created';

create table offboardings (
  org_id            ascii not null references organizations,
  id                ascii not null,
  user_id           ascii not null,
  email             text,
  name              text,
  revoked           jsonb not null,
  started_by_type   text not null,
  started_by_id     ascii not null,
  started_at        timestamptz(3) not null,
  finished_by_type  text,
  finished_by_id    ascii,
  finished_at       timestamptz(3),
  primary key (org_id, id)
);
create index offboardings_by_start on offboardings (org_id, started_at, id);
create unique index offboardings_running on offboardings (org_id, user_id) where finished_at is null;

-- The remaining work of an offboarding. A row has no foreign key to its environment or secret, because it outlives them. The
-- state of a waiting row also follows from other tables: a version of the secret after base_version, or a sharing of the
-- recovery key after shared_at, is one that the person does not know.
create table offboarding_rows (
  org_id           ascii not null,
  id               ascii not null,
  offboarding_id   ascii not null,
  kind             text not null check (kind in ('recovery_share', 'rekey', 'rotate_value')),
  state            text not null check (state in ('waiting', 'done', 'rotated', 'replaced', 'not_needed')),
  environment_id   ascii,
  label            text,
  via              text check (via in ('grant', 'token')),
  secret_id        ascii,
  secret_name      ascii,
  base_version     integer,
  shared_at        timestamptz(3),
  note             text,
  assignee_id      ascii,
  changed_by_type  text,
  changed_by_id    ascii,
  changed_at       timestamptz(3),
  primary key (org_id, id),
  foreign key (org_id, offboarding_id) references offboardings on delete cascade,
  check ((kind = 'recovery_share') = (environment_id is null)),
  check ((kind = 'rotate_value') = (secret_id is not null))
);
create index offboarding_rows_of_one on offboarding_rows (org_id, offboarding_id, id);
create index offboarding_rows_environment on offboarding_rows (org_id, environment_id) where state = 'waiting';

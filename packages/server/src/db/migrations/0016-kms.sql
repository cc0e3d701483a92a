-- Managed keys: material that clients made, per version and wrapped to each who may use it. A deleted key keeps its rows, and
-- no statement shows it.
create table kms_keys (
  org_id           ascii not null references organizations,
  id               ascii not null,
  name             text not null,
  purpose          text not null check (purpose in ('encrypt', 'sign')),
  spec             ascii not null,
  -- What it belongs to, for people; it outlives that, because what it has encrypted may, too.
  application_id   ascii,
  group_id         ascii,
  current_version  integer not null,
  disabled_at      timestamptz(3),
  deleted_at       timestamptz(3),
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  primary key (org_id, id),
  check (application_id is null or group_id is null),
  foreign key (org_id, application_id) references applications (org_id, id) on delete set null (application_id),
  foreign key (org_id, group_id) references groups (org_id, id) on delete set null (group_id)
);
create unique index kms_keys_name on kms_keys (org_id, name) where deleted_at is null;
create index kms_keys_application on kms_keys (org_id, application_id) where application_id is not null;
create index kms_keys_group on kms_keys (org_id, group_id) where group_id is not null;

create table kms_key_versions (
  org_id          ascii not null references organizations,
  key_id          ascii not null,
  version         integer not null,
  -- of a key that signs
  public_key_jwk  text,
  created_at      timestamptz(3) not null,
  primary key (org_id, key_id, version),
  foreign key (org_id, key_id) references kms_keys (org_id, id)
);

create table kms_grants (
  org_id           ascii not null references organizations,
  key_id           ascii not null,
  version          integer not null,
  principal_type   text not null,
  principal_id     ascii not null,
  wrapped_key      ascii not null,
  granted_by_type  text not null,
  granted_by_id    ascii not null,
  created_at       timestamptz(3) not null,
  primary key (org_id, key_id, principal_type, principal_id, version),
  foreign key (org_id, key_id, version) references kms_key_versions (org_id, key_id, version),
  foreign key (org_id, principal_type, principal_id) references principals on delete cascade
);
create index kms_grants_version on kms_grants (org_id, key_id, version);
create index kms_grants_holder on kms_grants (org_id, principal_type, principal_id);

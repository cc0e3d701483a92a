-- The notes of people about a name in an environment. A row may be about a name that has no secret, and it stays when the
-- secret is deleted. `sealed` is encrypted by clients under the environment's key.
create table secret_details (
  org_id           ascii not null,
  environment_id   ascii not null,
  name             ascii not null,
  sealed           text collate "C",
  owner_id         ascii,
  expires_at       timestamptz(3),
  not_needed       boolean not null,
  -- The reminders that the owner was sent of `expires_at`: none, that it comes, that it has passed.
  reminders        integer not null default 0 check (reminders between 0 and 2),
  revision         integer not null check (revision >= 1),
  updated_by_type  text not null,
  updated_by_id    ascii not null,
  updated_at       timestamptz(3) not null,
  primary key (org_id, environment_id, name),
  foreign key (org_id, environment_id) references environments on delete cascade,
  foreign key (org_id, owner_id) references memberships (org_id, user_id) on delete set null (owner_id)
);
alter table secret_details alter column sealed set storage external;
create index secret_details_owner on secret_details (org_id, owner_id) where owner_id is not null;
create index secret_details_expiry on secret_details (expires_at) where expires_at is not null and reminders < 2;

-- A value of a secret that a person stored for themselves. Their client encrypts the name with the value. An override ends
-- with the membership and with the environment.
create table overrides (
  org_id          ascii not null references organizations,
  id              ascii not null,
  environment_id  ascii not null,
  user_id         ascii not null,
  wrapped_key     ascii not null,
  ciphertext      text collate "C" not null,
  revision        integer not null check (revision >= 1),
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, environment_id) references environments on delete cascade,
  foreign key (org_id, user_id) references memberships (org_id, user_id) on delete cascade
);
alter table overrides alter column ciphertext set storage external;
create index overrides_person on overrides (org_id, environment_id, user_id);
create index overrides_user on overrides (org_id, user_id);

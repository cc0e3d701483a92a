-- A member asks for environments. Whether an environment was granted follows from key_grants. A request ends with the
-- membership of the person who asked.
create table access_requests (
  org_id          ascii not null references organizations,
  id              ascii not null,
  user_id         ascii not null,
  reason          text,
  status          text not null check (status in ('open', 'granted', 'declined', 'withdrawn', 'expired')),
  created_at      timestamptz(3) not null,
  expires_at      timestamptz(3) not null,
  closed_at       timestamptz(3),
  closed_by_type  text,
  closed_by_id    ascii,
  answer          text,
  primary key (org_id, id),
  foreign key (org_id, user_id) references memberships on delete cascade
);
create index access_requests_by_creation on access_requests (org_id, created_at, id);
create index access_requests_user on access_requests (org_id, user_id);
create index access_requests_open on access_requests (expires_at) where status = 'open';

create table access_request_environments (
  org_id          ascii not null,
  request_id      ascii not null,
  environment_id  ascii not null,
  primary key (org_id, request_id, environment_id),
  foreign key (org_id, request_id) references access_requests on delete cascade,
  foreign key (org_id, environment_id) references environments on delete cascade
);
create index access_request_environments_environment on access_request_environments (org_id, environment_id);

-- Recovery: a key pair whose private half is shared out among custodians, so that no machine has it. Everything here was
-- wrapped by clients, to custodians, to that key, or to the target of a request.
create table recoveries (
  org_id                   ascii not null references organizations,
  recovery_public_key_jwk  text not null,
  threshold                integer not null check (threshold between 2 and 255),
  -- How many shares were made: those whose custodian has gone are lost.
  shares                   integer not null,
  created_at               timestamptz(3) not null,
  rotated_at               timestamptz(3),
  last_drill_at            timestamptz(3),
  primary key (org_id)
);

create table recovery_custodians (
  org_id         ascii not null references recoveries on delete cascade,
  user_id        ascii not null,
  share_index    integer not null check (share_index between 1 and 255),
  wrapped_share  text collate "C" not null,
  primary key (org_id, user_id),
  constraint recovery_custodians_share unique (org_id, share_index),
  foreign key (org_id, user_id) references memberships on delete cascade
);

create table recovery_grants (
  org_id          ascii not null references recoveries on delete cascade,
  environment_id  ascii not null,
  wrapped_dek     text collate "C" not null,
  created_at      timestamptz(3) not null,
  primary key (org_id, environment_id),
  foreign key (org_id, environment_id) references environments on delete cascade
);

-- Requests outlive the recovery that they were made under: what happened stays to be read.
create table recovery_requests (
  org_id                 ascii not null references organizations,
  id                     ascii not null,
  status                 text not null check (status in ('open', 'completed', 'cancelled', 'expired')),
  drill                  boolean not null,
  target_public_key_jwk  text not null,
  target_type            text check (target_type in ('user', 'service_token')),
  target_id              ascii,
  reason                 text,
  threshold              integer not null,
  requested_by_type      text not null,
  requested_by_id        ascii not null,
  created_at             timestamptz(3) not null,
  expires_at             timestamptz(3) not null,
  primary key (org_id, id),
  check (drill = (target_id is null) and (target_type is null) = (target_id is null))
);
create index recovery_requests_open on recovery_requests (expires_at) where status = 'open';

create table recovery_contributions (
  org_id             ascii not null,
  request_id         ascii not null,
  share_index        integer not null,
  user_id            ascii not null,
  -- null once the request is closed: nobody needs it any longer
  contributed_share  text collate "C",
  created_at         timestamptz(3) not null,
  primary key (org_id, request_id, share_index),
  foreign key (org_id, request_id) references recovery_requests on delete cascade
);

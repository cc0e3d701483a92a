-- Change requests with their reviews, and honey tokens.

-- A change of one secret of a protected environment, as proposed: with the settings of that moment, and with the secret
-- that it was proposed on, null and 0 where there was none. A secret that was deleted and made anew is another one, so
-- the version alone would not tell whether it has moved on.
create table change_requests (
  org_id               ascii not null,
  id                   ascii not null,
  environment_id       ascii not null,
  secret_name          ascii not null,
  action               text not null check (action in ('put', 'delete', 'restore')),
  ciphertext           text collate "C",
  restore_version      integer,
  base_secret_id       ascii,
  base_version         integer not null check (base_version >= 0),
  note                 text,
  proposed_by_type     text not null,
  proposed_by_id       ascii not null,
  required_approvals   integer not null check (required_approvals >= 1),
  allow_self_approval  boolean not null,
  status               text not null check (status in ('open', 'applied', 'superseded', 'rejected', 'withdrawn')),
  created_at           timestamptz(3) not null,
  closed_at            timestamptz(3),
  primary key (org_id, id),
  check (ciphertext is null or action = 'put'),
  check ((restore_version is null) = (action <> 'restore')),
  check ((base_secret_id is null) = (base_version = 0)),
  check ((closed_at is null) = (status = 'open')),
  foreign key (org_id, environment_id) references environments on delete cascade
);
create index change_requests_by_time on change_requests (org_id, created_at, id);
create index change_requests_environment on change_requests (org_id, environment_id, secret_name);
alter table change_requests alter column ciphertext set storage external;

-- One vote per reviewer.
create table change_reviews (
  org_id             ascii not null,
  id                 ascii not null,
  change_request_id  ascii not null,
  reviewer_id        ascii not null,
  decision           text not null check (decision in ('approve', 'reject')),
  comment            text,
  created_at         timestamptz(3) not null,
  primary key (org_id, id),
  constraint change_reviews_reviewer unique (org_id, change_request_id, reviewer_id),
  foreign key (org_id, change_request_id) references change_requests on delete cascade
);

-- Deleting a secret takes its whole history, so also the values that were proposed for it, but for those that may still
-- come to be: proposed before there was any secret of that name.
create function forget_proposed_values() returns trigger language plpgsql as $$
begin
  update change_requests c set ciphertext = null
    from deleted d
   where (c.org_id, c.environment_id, c.secret_name) = (d.org_id, d.environment_id, d.name)
     and c.ciphertext is not null and (c.status <> 'open' or c.base_version > 0);
  return null;
end $$;
create trigger secrets_forgotten after delete on secrets referencing old table as deleted
  for each statement execute function forget_proposed_values();

-- Decoys. To everything else a decoy is a service token that was deleted before it could be used: its row there takes its
-- id and its hash, so that no token can have them, and no query that asks what is in force finds it. It has no key.
alter table service_tokens alter column public_key_jwk drop not null;
alter table service_tokens add check (public_key_jwk is not null or deleted_at is not null);

create table honey_tokens (
  org_id                ascii not null,
  id                    ascii not null,
  token_id              ascii not null,
  placement             text,
  trip_count            bigint not null default 0,
  last_trip_at          timestamptz(3),
  last_trip_ip          text,
  last_trip_user_agent  text,
  -- When the admins were last told, so that a decoy that is tried again and again does not fill their mailboxes.
  last_alert_at         timestamptz(3),
  created_at            timestamptz(3) not null,
  primary key (org_id, id),
  constraint honey_tokens_token unique (org_id, token_id),
  foreign key (org_id, token_id) references service_tokens on delete cascade
);

-- Versions before this one were sealed under keys that the environment no longer has.
alter table secrets add column key_since_version integer not null default 1;

-- Where the events of a vault project are sent. The signing secret is sealed under the server key.
create table vault_webhooks (
  org_id                ascii not null,
  id                    ascii not null,
  project_id            ascii not null,
  url                   text not null,
  events                jsonb not null,
  description           text,
  status                text not null check (status in ('active', 'disabled')),
  sealed_secret         text not null,
  -- In a row. What fails at the same time counts once.
  failure_count         integer not null default 0,
  -- After a failure nothing is sent until then.
  rests_until           timestamptz(3),
  last_delivery_at      timestamptz(3),
  last_delivery_status  integer,
  last_error            text,
  created_at            timestamptz(3) not null,
  updated_at            timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, project_id) references vault_projects
);
create index vault_webhooks_project on vault_webhooks (org_id, project_id, created_at, id);

-- One event for one webhook, and what became of it.
create table vault_deliveries (
  org_id           ascii not null,
  id               ascii not null,
  webhook_id       ascii not null,
  event_id         ascii not null,
  type             text not null,
  connection_id    ascii,
  -- As it is sent, the same bytes each time.
  body             text not null,
  status           text not null check (status in ('pending', 'delivered', 'dead')),
  attempts         integer not null default 0,
  next_attempt_at  timestamptz(3),
  last_attempt_at  timestamptz(3),
  response_status  integer,
  last_error       text,
  created_at       timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, webhook_id) references vault_webhooks on delete cascade,
  check ((status = 'pending') = (next_attempt_at is not null))
);
-- An event that is told of twice is one delivery.
create unique index vault_deliveries_once on vault_deliveries (org_id, webhook_id, event_id);
create index vault_deliveries_listed on vault_deliveries (org_id, webhook_id, created_at, id);
create index vault_deliveries_due on vault_deliveries (org_id, webhook_id, next_attempt_at, id) where status = 'pending';
create index vault_deliveries_waiting on vault_deliveries (next_attempt_at) where status = 'pending';
create index vault_deliveries_old on vault_deliveries (created_at);

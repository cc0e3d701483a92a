-- What an organization has beyond the free plans, by where it comes from: it pays, it redeemed a code, or the operator said so.
-- The highest one in force is its plan.
create table org_plans (
  org_id           ascii not null references organizations,
  family           ascii not null,
  source           text not null check (source in ('subscription', 'promo', 'operator')),
  plan             ascii not null,
  -- of a subscription, as the payment provider tells them
  subscription_id  ascii,
  status           text,
  amount           integer,
  currency         ascii,
  "interval"       ascii,
  -- of a promo
  code             ascii,
  -- the end of the period that is paid for, or of the promo; null is without an end
  ends_at          timestamptz(3),
  updated_at       timestamptz(3) not null,
  primary key (org_id, family, source),
  check ((source = 'subscription') = (subscription_id is not null and status is not null)),
  check ((source = 'promo') = (code is not null))
);
create unique index org_plans_subscription on org_plans (subscription_id) where subscription_id is not null;

-- The operator's alone. The value is a number, null (without a limit), or for a feature a boolean.
create table plan_overrides (
  org_id      ascii not null references organizations,
  key         ascii not null,
  value       jsonb not null,
  reason      text not null,
  updated_at  timestamptz(3) not null,
  primary key (org_id, key)
);

create table billing_customers (
  org_id       ascii not null references organizations,
  customer_id  ascii not null,
  created_at   timestamptz(3) not null,
  primary key (org_id)
);

create table promo_codes (
  code        ascii primary key,
  family      ascii not null,
  plan        ascii not null,
  days        integer check (days >= 1),
  uses_max    integer check (uses_max >= 1),
  uses        integer not null default 0,
  expires_at  timestamptz(3),
  created_at  timestamptz(3) not null
);

create table promo_redemptions (
  org_id      ascii not null references organizations,
  code        ascii not null,
  created_at  timestamptz(3) not null,
  primary key (org_id, code)
);

-- Events of the payment provider that were taken: it sends each at least once.
create table billing_events (
  id           ascii primary key,
  received_at  timestamptz(3) not null
);
create index billing_events_by_time on billing_events (received_at);

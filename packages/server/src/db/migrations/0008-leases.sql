-- Databases, hosts and clouds on which leases are made. The credential is wrapped to the organization's broker key.
create table lease_targets (
  org_id                ascii not null references organizations,
  id                    ascii not null,
  name                  text not null,
  provider              ascii not null,
  config                jsonb not null,
  wrapped_admin_secret  ascii not null,
  status                text not null check (status in ('untested', 'ready', 'failing')),
  last_error            text,
  server                text,
  notes                 jsonb not null,
  created_at            timestamptz(3) not null,
  updated_at            timestamptz(3) not null,
  primary key (org_id, id),
  unique (org_id, name)
);

-- The ledger: a row is there before anything is on the target, and says what may be there until it is known to be gone.
create table leases (
  org_id             ascii not null references organizations,
  id                 ascii not null,
  -- null once the target was removed by force
  target_id          ascii,
  provider           ascii not null,
  status             text not null check (status in ('pending', 'creating', 'active', 'revoking', 'expired', 'revoked',
                                                     'failed', 'orphaned')),
  resource_ref       text,
  -- SHA-256 of the verifier in hex: by it an account on the target is known to be the lease's own
  verifier_digest    ascii,
  requested_by_type  text not null,
  requested_by_id    ascii not null,
  ttl_seconds        integer not null,
  created_at         timestamptz(3) not null,
  expires_at         timestamptz(3) not null,
  -- what `revoking` ends as
  ends_as            text check (ends_as in ('expired', 'revoked', 'failed')),
  ending_since       timestamptz(3),
  next_try_at        timestamptz(3),
  tries              integer not null default 0,
  revoked_at         timestamptz(3),
  revoked_by_id      ascii,
  last_error         text,
  primary key (org_id, id),
  foreign key (org_id, target_id) references lease_targets (org_id, id) on delete set null (target_id)
);
create index leases_by_creation on leases (org_id, created_at desc, id desc);
create index leases_live on leases (org_id, target_id, expires_at)
  where status in ('pending', 'creating', 'active', 'revoking', 'orphaned');

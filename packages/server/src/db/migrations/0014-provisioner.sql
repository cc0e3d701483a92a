-- Work that waits for the provisioner of a target, or that it has in hand: one row for the check of a target, and one for
-- each lease that is to be made or removed. What is to be done with a lease follows from its state.
create table provisioner_jobs (
  org_id         ascii not null references organizations,
  -- another one each time it is given out, so that whoever had it before cannot report it
  id             ascii not null,
  target_id      ascii not null,
  -- null where the target is to be checked
  lease_id       ascii,
  kind           text check (kind in ('verify', 'create', 'revoke')),
  -- of the account to be made: the ledger has its digest alone
  verifier       ascii,
  attempt        integer not null default 0,
  -- until then nobody else gets it
  claimed_until  timestamptz(3),
  created_at     timestamptz(3) not null,
  primary key (org_id, id),
  unique nulls not distinct (org_id, target_id, lease_id),
  foreign key (org_id, target_id) references lease_targets (org_id, id) on delete cascade,
  foreign key (org_id, lease_id) references leases (org_id, id) on delete cascade
);
create index provisioner_jobs_by_lease on provisioner_jobs (org_id, lease_id);

-- Identities of agents. They hold no key: what one may do is in a policy that a person signed, and a proxy enforces.
create table agents (
  org_id                ascii not null references organizations,
  id                    ascii not null,
  name                  text not null,
  slug                  ascii not null,
  environment_id        ascii,
  -- The environment that it was bound to and that was deleted: whoever enables the agent again says where it belongs now.
  lost_environment_id   ascii,
  loss_recorded         boolean not null default true,
  enabled               boolean not null,
  -- The number of its newest version; 0 before the first.
  policy_version        integer not null default 0,
  last_policy_fetch_at  timestamptz(3),
  created_at            timestamptz(3) not null,
  updated_at            timestamptz(3) not null,
  primary key (org_id, id),
  constraint agents_slug unique (org_id, slug),
  foreign key (org_id, environment_id) references environments on delete set null (environment_id)
);
create index agents_environment on agents (org_id, environment_id) where environment_id is not null;
create index agents_by_id on agents (id);
create index agents_by_slug on agents (slug);
create index agents_losses on agents (org_id, id) where not loss_recorded;

-- However an environment goes, with its application or by its time, what was bound to it must not become an agent of
-- the whole organization.
create function disable_bound_agents() returns trigger language plpgsql as $$
begin
  update agents set enabled = false, environment_id = null, lost_environment_id = old.id, loss_recorded = false
   where org_id = old.org_id and environment_id = old.id;
  return old;
end $$;
create trigger environments_agents before delete on environments
  for each row execute function disable_bound_agents();

-- Bundles as they were signed. A rollback is a row of its own, with the bundle of an earlier one.
create table agent_policies (
  org_id             ascii not null,
  agent_id           ascii not null,
  version            integer not null check (version >= 1),
  bundle             ascii not null,
  -- What the signature says, which after a rollback is not the row's number.
  signed_version     integer not null,
  signer_thumbprint  ascii not null,
  signer_user_id     ascii not null,
  rolled_back_from   integer,
  expires_at         timestamptz(3) not null,
  rules              jsonb not null,
  created_at         timestamptz(3) not null,
  primary key (org_id, agent_id, version),
  foreign key (org_id, agent_id) references agents on delete cascade
);
create trigger agent_policies_stay before update on agent_policies
  for each row execute function refuse_change();

create table agent_tasks (
  org_id              ascii not null,
  id                  ascii not null,
  agent_id            ascii not null,
  task_ref            ascii not null,
  token_hash          ascii not null,
  -- null: whatever the policy permits
  scopes              jsonb,
  label               text,
  proof_thumbprint    ascii,
  dispatched_by_type  text not null,
  dispatched_by_id    ascii not null,
  created_at          timestamptz(3) not null,
  expires_at          timestamptz(3) not null,
  last_seen_at        timestamptz(3),
  revoked_at          timestamptz(3),
  primary key (org_id, id),
  constraint agent_tasks_ref unique (org_id, task_ref),
  constraint agent_tasks_hash unique (org_id, token_hash),
  foreign key (org_id, agent_id) references agents on delete cascade
);
create index agent_tasks_by_id on agent_tasks (id);
create index agent_tasks_by_ref on agent_tasks (task_ref);
create index agent_tasks_by_hash on agent_tasks (token_hash);
create index agent_tasks_by_agent on agent_tasks (org_id, agent_id, created_at desc, id desc);

-- Counts by the hour. No path is in them.
create table agent_activity (
  org_id          ascii not null,
  id              bigint generated always as identity,
  agent_id        ascii not null,
  hour            timestamptz(3) not null,
  host            ascii not null,
  method          ascii not null,
  decision        ascii not null,
  rule_index      integer,
  -- As signed: whose rules rule_index counts.
  policy_version  integer,
  count           bigint not null,
  secrets         jsonb not null,
  first_at        timestamptz(3) not null,
  last_at         timestamptz(3) not null,
  primary key (org_id, id),
  constraint agent_activity_cell unique nulls not distinct
    (org_id, agent_id, hour, host, method, decision, rule_index, policy_version),
  foreign key (org_id, agent_id) references agents on delete cascade
);
create index agent_activity_by_hour on agent_activity (hour);

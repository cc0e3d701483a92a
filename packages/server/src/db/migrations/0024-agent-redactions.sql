-- By name, how often a proxy has replaced a secret that an upstream sent back. A cell whose answers came in a later hour than
-- its requests has a count of 0.
alter table agent_activity add column redactions jsonb not null default '{}';

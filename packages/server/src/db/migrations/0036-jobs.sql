-- The queue of background jobs. Until this release a library kept it in a schema of its own.
create table jobs (
  id uuid primary key,
  -- Orders jobs that are due at the same instant.
  number bigint generated always as identity,
  name text not null,
  data jsonb not null,
  -- Jobs of one name with the same key run one after the other.
  key text,
  -- A job that fails for good is `dead` where an operator may run it again, else `failed`.
  state text not null default 'waiting' check (state in ('waiting', 'active', 'completed', 'failed', 'dead')),
  -- An urgent job is due since ever, so that it goes before all others.
  due_at timestamptz not null,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  -- The server that runs the job writes this every second.
  beat_at timestamptz,
  ended_at timestamptz,
  error jsonb
);

create index jobs_due on jobs (name, due_at, number) where state = 'waiting';
create index jobs_key on jobs (name, key, due_at, number) where state = 'waiting' and key is not null;
create index jobs_active on jobs (name) where state = 'active';
-- Two jobs of one key never run at once, whatever two servers read at the same time.
create unique index jobs_active_key on jobs (name, key) where state = 'active' and key is not null;
create index jobs_ended on jobs (ended_at) where state in ('completed', 'failed');
create index jobs_dead on jobs (ended_at) where state = 'dead';

do $$
begin
  if to_regclass('jobs.job') is not null then
    insert into jobs (id, name, data, key, due_at, attempts, created_at)
    select id, name, coalesce(data, '{}'), group_id, start_after, retry_count, created_on
      from jobs.job
     where state in ('created', 'retry', 'active') and name <> 'dead_letters' and name not like '\_\_pgboss%'
     order by created_on;
    insert into jobs (id, name, data, state, due_at, attempts, created_at, ended_at, error)
    select id, coalesce(source_name, name), coalesce(data, '{}'), 'dead', start_after, coalesce(source_retry_count, 0) + 1,
           coalesce(source_created_on, created_on), created_on, source_output
      from jobs.job
     where state = 'created' and name = 'dead_letters'
     order by created_on;
    drop schema jobs cascade;
  end if;
end
$$;

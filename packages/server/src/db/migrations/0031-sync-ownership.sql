-- Names that somebody else wrote are left alone, which is no failure: a run lists them apart.
alter table sync_runs add column skipped jsonb not null default '[]';

-- A name that a binding removed where removed names can be restored. The name stays the binding's until somebody else takes it.
alter table sync_ledger add column deleted_at timestamptz(3);

-- What admins were last mailed about: a refused credential, or another failure that a person has to end. null after a success.
alter table sync_bindings add column told text check (told in ('credential', 'failure'));

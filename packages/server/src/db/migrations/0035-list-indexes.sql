-- A list without a limit is read page by page. Each page of these begins where the one before has ended, in the index.
create index service_tokens_by_creation on service_tokens (org_id, created_at, id) where deleted_at is null;
create index key_grants_by_creation on key_grants (org_id, environment_id, created_at, id);
create index environments_by_creation on environments (org_id, created_at, id);

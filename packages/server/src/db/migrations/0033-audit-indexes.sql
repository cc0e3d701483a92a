-- For searches of the audit log by who did something, by what it was done to, and by request. Without an index each of these
-- searches reads every entry of the organization.
create index audit_entries_by_actor on audit_entries (org_id, actor_id, created_at) where actor_id is not null;
create index audit_entries_by_resource on audit_entries (org_id, resource_id, created_at) where resource_id is not null;
create index audit_entries_by_request on audit_entries (request_id) where request_id is not null;

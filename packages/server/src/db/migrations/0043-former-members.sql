-- Finds the names of former members, which the entries of their removal have.
create index audit_entries_of_removals on audit_entries (org_id, resource_id, created_at) where action = 'member.removed';

-- Which trees somebody has changed is asked for every few entries that are sealed, of as many trees as there are organizations.
create index audit_trees_broken on audit_trees (org_id) where broken_at is not null;

-- Changes of several secrets that were proposed together. They are decided together, so they always have the same status.
alter table change_requests
  add column group_id ascii,
  add column group_size integer not null default 1 check (group_size >= 1),
  add check ((group_id is null) = (group_size = 1));
create index change_requests_group on change_requests (org_id, group_id) where group_id is not null;

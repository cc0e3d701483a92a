-- A change of a protected environment may be a re-key, which is about no single secret. base_state is a digest of everything
-- that the re-key depends on. Another digest means that something has changed since the proposal.
alter table change_requests
  drop constraint change_requests_action_check,
  add constraint change_requests_action_check check (action in ('put', 'delete', 'restore', 'rekey')),
  alter column secret_name drop not null,
  add column base_state ascii,
  add check ((action = 'rekey') = (secret_name is null)),
  add check ((action = 'rekey') = (base_state is not null)),
  add check (action <> 'rekey' or ciphertext is null and group_id is null);
create unique index change_requests_open_rekey on change_requests (org_id, environment_id)
  where action = 'rekey' and status = 'open';

-- The body of a proposed re-key, in parts, because one value of its size would take too much memory in a statement. It is
-- deleted with the decision.
create table proposed_rekeys (
  org_id             ascii not null,
  change_request_id  ascii not null,
  part               integer not null check (part >= 0),
  body               text collate "C" not null,
  primary key (org_id, change_request_id, part),
  foreign key (org_id, change_request_id) references change_requests on delete cascade
);
alter table proposed_rekeys alter column body set storage external;

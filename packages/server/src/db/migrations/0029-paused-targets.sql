-- A target that crashes its driver several times in a row is paused.
alter table lease_targets
  add column child_failures integer not null default 0,
  drop constraint lease_targets_status_check,
  add constraint lease_targets_status_check check (status in ('untested', 'ready', 'failing', 'paused'));

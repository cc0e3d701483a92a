-- An offboarding finds the keys that a person lost before, which only the audit log has.
create index audit_entries_of_lost_keys on audit_entries (org_id, ((metadata ->> 'principalId') collate "C"), created_at)
  where action in ('key.revoked', 'key.expired');
create index audit_entries_of_teams on audit_entries (org_id, created_at)
  where action in ('team.member_removed', 'team.environment_removed', 'team.deleted');

-- A person whose key was revoked, or who was locked out by a re-key. No team asks for the key again, also a team that the
-- person joins later, until somebody grants the key to the person.
create table key_exclusions (
  org_id          ascii not null references organizations,
  environment_id  ascii not null,
  user_id         ascii not null,
  primary key (org_id, environment_id, user_id),
  foreign key (org_id, environment_id) references environments on delete cascade,
  foreign key (org_id, user_id) references memberships on delete cascade
);
create index key_exclusions_user on key_exclusions (org_id, user_id);
insert into key_exclusions (org_id, environment_id, user_id)
select distinct org_id, environment_id, user_id from team_exclusions;
drop table team_exclusions;

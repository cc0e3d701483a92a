-- A team has no key. Each person of a team should get the key of each environment of the team, wrapped to the person. An
-- environment of a team is never a branch, because a branch has its own key.
create table teams (
  org_id      ascii not null references organizations,
  id          ascii not null,
  name        text not null,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index teams_name on teams (org_id, lower(name));
create index teams_by_creation on teams (org_id, created_at, id);

create table team_members (
  org_id      ascii not null,
  team_id     ascii not null,
  user_id     ascii not null,
  created_at  timestamptz(3) not null,
  primary key (org_id, team_id, user_id),
  foreign key (org_id, team_id) references teams on delete cascade,
  foreign key (org_id, user_id) references memberships on delete cascade
);
create index team_members_user on team_members (org_id, user_id);

create table team_environments (
  org_id          ascii not null,
  team_id         ascii not null,
  environment_id  ascii not null,
  created_at      timestamptz(3) not null,
  primary key (org_id, team_id, environment_id),
  foreign key (org_id, team_id) references teams on delete cascade,
  foreign key (org_id, environment_id) references environments on delete cascade
);
create index team_environments_environment on team_environments (org_id, environment_id);

-- A person of the team whose key was revoked, or who was locked out by a re-key. The team does not ask for the key again.
create table team_exclusions (
  org_id          ascii not null,
  team_id         ascii not null,
  environment_id  ascii not null,
  user_id         ascii not null,
  primary key (org_id, team_id, environment_id, user_id),
  foreign key (org_id, team_id, user_id) references team_members on delete cascade,
  foreign key (org_id, team_id, environment_id) references team_environments on delete cascade
);
create index team_exclusions_user on team_exclusions (org_id, team_id, user_id);

-- An environment whose key a person shall get without a team. The row is deleted once the person has the key.
create table planned_grants (
  org_id          ascii not null,
  environment_id  ascii not null,
  user_id         ascii not null,
  created_at      timestamptz(3) not null,
  primary key (org_id, environment_id, user_id),
  foreign key (org_id, environment_id) references environments on delete cascade,
  foreign key (org_id, user_id) references memberships on delete cascade
);
create index planned_grants_user on planned_grants (org_id, user_id);

-- Teams and environments that an invited person gets with the acceptance. An invitation that replaces one that is over has
-- another id.
create table invitation_teams (
  org_id         ascii not null,
  invitation_id  ascii not null,
  team_id        ascii not null,
  primary key (org_id, invitation_id, team_id),
  foreign key (org_id, invitation_id) references invitations on update cascade on delete cascade,
  foreign key (org_id, team_id) references teams on delete cascade
);
create index invitation_teams_team on invitation_teams (org_id, team_id);

create table invitation_environments (
  org_id          ascii not null,
  invitation_id   ascii not null,
  environment_id  ascii not null,
  primary key (org_id, invitation_id, environment_id),
  foreign key (org_id, invitation_id) references invitations on update cascade on delete cascade,
  foreign key (org_id, environment_id) references environments on delete cascade
);
create index invitation_environments_environment on invitation_environments (org_id, environment_id);

-- of_team is true for a grant that exists because a team asks for it. On a branch, it is true if a team gave the key of the
-- parent. Such a grant ends when no team asks for it. of_team is null for direct grants, and so for all grants before teams.
alter table key_grants add column of_team boolean check (of_team);

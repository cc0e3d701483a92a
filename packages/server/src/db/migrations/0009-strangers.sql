-- Of a decoy's trips within a minute, the first is an entry at once and the rest are one entry when the minute is over:
-- how many they are so far, and from where.
alter table honey_tokens
  add column minute_began_at   timestamptz(3),
  add column minute_count      integer not null default 0,
  add column minute_addresses  text[] not null default '{}';

-- When admins were last told that a token had been sent whole, with the seed of its key.
create table token_exposures (
  org_id    ascii not null,
  token_id  ascii not null,
  told_at   timestamptz(3) not null,
  primary key (org_id, token_id),
  foreign key (org_id, token_id) references service_tokens on delete cascade
);

-- The address that an issuer said was verified, which invitations are for. `email` may be one that nobody has proven.
alter table users add column verified_email text;
update users set verified_email = email where issuer = 'skerry';

-- The invitation that a link came with, and is taken by.
alter table magic_links add column invite_id ascii;

-- A link that was used stays, and says that this server has been set up: people may come before that, invited by strangers.
alter table set_up_links add column used_at timestamptz(3);
insert into set_up_links (token_hash, expires_at, used_at) select '', now(), now() where exists (select from users);

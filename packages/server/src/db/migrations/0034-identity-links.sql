-- A sign-in at the issuer whose verified address belongs to a person of another issuer, or of the built-in sign-in. The row
-- waits until that person confirms that both are the same (features/identity-links).
create table identity_links (
  -- The hash of a cookie. Only the browser that came from the issuer can go on.
  browser_hash          ascii primary key,
  -- The person who is asked to confirm.
  user_id               ascii not null references users on delete cascade,
  issuer                text not null,
  subject               text not null,
  email                 text not null,
  name                  text,
  -- The issuer's word on the second factor, for the session that follows.
  issuer_second_factor  boolean not null,
  mfa_at                timestamptz(3),
  return_to             text not null,
  -- The hash of the token in the newest mail; null before the mail, and once the token has been used.
  mail_hash             ascii,
  mail_expires_at       timestamptz(3),
  mailbox_confirmed_at  timestamptz(3),
  created_at            timestamptz(3) not null,
  expires_at            timestamptz(3) not null
);
create index identity_links_user on identity_links (user_id);

create index users_verified_email on users (verified_email) where verified_email is not null;

-- The set-up link makes the first owner, so it ends with the first owner, however that one came: an organization that was
-- restored, an invitation, a change of role.
create function retire_set_up_links() returns trigger language plpgsql as $$
begin
  delete from set_up_links where used_at is null;
  return null;
end $$;

create trigger memberships_retire_set_up_links after insert or update of role on memberships
  for each row when (new.role = 'owner') execute function retire_set_up_links();

delete from set_up_links where used_at is null and exists (select from memberships where role = 'owner');

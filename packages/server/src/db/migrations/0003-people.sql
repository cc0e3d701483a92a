-- What a person has: passkeys of the keyring, CLI sessions, preferences. A person may be in several organizations, so
-- none of these has an org_id.

-- Asked for without a credential, so nothing in here opens anything: the hash becomes one when a person approves.
create table cli_login_requests (
  code          ascii not null primary key,
  session_id    ascii not null constraint cli_login_requests_session unique,
  token_hash    ascii not null constraint cli_login_requests_hash unique,
  device_label  text not null,
  client        text,
  ip_address    text,
  status        text not null check (status in ('pending', 'approved', 'denied')),
  created_at    timestamptz(3) not null,
  expires_at    timestamptz(3) not null
);
create index cli_login_requests_expiry on cli_login_requests (expires_at);

create table cli_sessions (
  id             ascii not null primary key,
  user_id        ascii not null references users,
  token_hash     ascii not null constraint cli_sessions_hash unique,
  device_label   text not null,
  client         text,
  ip_address     text,
  -- Of the session that approved this one, then.
  second_factor  boolean not null,
  mfa_at         timestamptz(3),
  created_at     timestamptz(3) not null,
  expires_at     timestamptz(3) not null,
  revoked_at     timestamptz(3)
);
create index cli_sessions_user on cli_sessions (user_id, created_at);

create table cli_session_uses (
  session_id    ascii not null primary key references cli_sessions on delete cascade,
  last_used_at  timestamptz(3) not null
);

-- Passkeys that unlock a keyring; those that sign in are another list.
create table passkeys (
  id                     ascii not null primary key,
  user_id                ascii not null references users,
  credential_id          ascii not null,
  label                  text not null,
  prf_input              ascii not null,
  encrypted_private_key  text collate "C" not null,
  created_at             timestamptz(3) not null,
  constraint passkeys_credential unique (user_id, credential_id)
);

-- Only what a person has decided; the rest is as the contract's table has it.
create table notification_preferences (
  user_id  ascii not null references users,
  type     ascii not null,
  wanted   boolean not null,
  primary key (user_id, type)
);

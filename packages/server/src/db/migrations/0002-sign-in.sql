-- The built-in sign-in: sessions of browsers, magic links, second factors. People belong to no one organization, so no
-- table here has an org_id. Secrets are stored as hashes where Skerry only compares them, and sealed under the server key
-- (keys/server-key.ts) where it must use them; whoever has the database alone can sign in as nobody.

-- What session tokens are signed with. The newest signs; older ones verify until their last token has expired.
create table signing_keys (
  id                  ascii primary key,
  public_key_jwk      text not null,
  sealed_private_key  ascii not null,
  created_at          timestamptz(3) not null
);

create table sessions (
  id                    ascii primary key,
  user_id               ascii not null references users on delete cascade,
  -- When a second factor was last entered in this session.
  mfa_at                timestamptz(3),
  -- Whether the external issuer that signed this person in says that there is a second factor; null: Skerry keeps them.
  issuer_second_factor  boolean,
  ip_address            text,
  user_agent            text,
  created_at            timestamptz(3) not null,
  last_used_at          timestamptz(3) not null,
  -- Moves on with each use, and not beyond ends_at.
  expires_at            timestamptz(3) not null,
  ends_at               timestamptz(3) not null,
  ended_at              timestamptz(3)
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

-- Spent ones stay as long as their session, so that a copy that shows up late gives itself away.
create table refresh_tokens (
  token_hash  ascii primary key,
  session_id  ascii not null references sessions on delete cascade,
  spent_at    timestamptz(3)
);
create index refresh_tokens_session on refresh_tokens (session_id);

create table set_up_links (
  token_hash  ascii primary key,
  expires_at  timestamptz(3) not null
);

create table magic_links (
  token_hash  ascii primary key,
  email       text not null,
  return_to   text,
  expires_at  timestamptz(3) not null
);

create table totp_factors (
  user_id         ascii primary key references users on delete cascade,
  sealed_secret   ascii not null,
  -- The time step of the last code that was accepted: each is good once.
  last_used_step  bigint,
  created_at      timestamptz(3) not null,
  confirmed_at    timestamptz(3)
);

create table recovery_codes (
  user_id    ascii not null references users on delete cascade,
  code_hash  ascii not null,
  used_at    timestamptz(3),
  primary key (user_id, code_hash)
);

create table sign_in_passkeys (
  id             ascii primary key,
  user_id        ascii not null references users on delete cascade,
  credential_id  ascii not null constraint sign_in_passkeys_credential unique,
  public_key     ascii not null,
  sign_count     bigint not null,
  label          text not null,
  created_at     timestamptz(3) not null,
  last_used_at   timestamptz(3)
);
create index sign_in_passkeys_user on sign_in_passkeys (user_id);

-- WebAuthn challenges, each good for one answer.
create table challenges (
  id          ascii primary key,
  purpose     text not null check (purpose in ('sign_in', 'enroll', 'step_up')),
  user_id     ascii references users on delete cascade,
  challenge   ascii not null,
  expires_at  timestamptz(3) not null
);
create index challenges_user on challenges (user_id);

-- How often something was tried in a window of time (identity/attempts.ts). Keys are hashes: they would name mailboxes.
create table attempts (
  key      ascii primary key,
  count    integer not null,
  ends_at  timestamptz(3) not null
);

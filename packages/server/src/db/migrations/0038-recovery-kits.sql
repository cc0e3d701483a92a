-- The recovery kit of a person: the private key sealed under a code that the person has printed. A kit belongs to one
-- keypair. Whoever replaces the keypair deletes it.
create table recovery_kits (
  user_id                ascii not null primary key references users,
  encrypted_private_key  text collate "C" not null,
  created_at             timestamptz(3) not null
);

-- A renamed secret keeps its versions. A version that was encrypted under another name has that name here, because it opens
-- under no other. null stands for the present name of the secret.
alter table secret_versions add column former_name ascii;
alter table deleted_secret_versions add column former_name ascii;

-- The former names of a secret with digests of their versions, encrypted by the client that renamed it. A re-key removes it
-- with the key of those versions.
alter table secrets add column former_names text collate "C";
alter table secrets alter column former_names set storage external;
alter table deleted_secrets add column former_names text collate "C";
alter table deleted_secrets alter column former_names set storage external;

-- A restore has a ciphertext if its version does not open under the present name: the client encrypts the value anew.
alter table change_requests
  drop constraint change_requests_check6,
  add check (ciphertext is null or action <> 'delete');

-- Texts under the joining code of an invitation, which the server does not know: the inviter says which signed directory is the
-- right one, and the invited person says which key is theirs. docs/directory-format.md has the format.
alter table invitations
  add column joining         ascii,
  add column joining_answer  ascii;

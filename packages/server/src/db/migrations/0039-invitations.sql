-- sent_at is the time of the last mail, accepted_at that of the acceptance. An accepted invitation stays, so that its link
-- and the list of the admins can say so.
alter table invitations
  add column sent_at      timestamptz(3),
  add column accepted_at  timestamptz(3);

-- A used link stays until it expires, so that it can say that it was used. The link of an invitation lives for as long as the invitation,
-- but it signs in a person who has an account only until account_until.
alter table magic_links
  add column used_at        timestamptz(3),
  add column account_until  timestamptz(3);
create index magic_links_invite on magic_links (invite_id) where invite_id is not null;

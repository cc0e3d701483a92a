-- A target is deleted only once no lease can have an account on it, or by force, which closes its leases first.
update leases
   set status = 'revoked', revoked_at = coalesce(revoked_at, now()), next_try_at = null,
       last_error = 'the target was deleted: the account may still be there'
 where target_id is null and status in ('pending', 'creating', 'active', 'revoking', 'orphaned');
alter table leases add constraint leases_live_have_a_target
  check (target_id is not null or status not in ('pending', 'creating', 'active', 'revoking', 'orphaned'));

-- A client names the account of these providers. One lease of a target has the name until its account is gone.
update leases l
   set status = 'revoked', revoked_at = coalesce(revoked_at, now()), next_try_at = null,
       last_error = 'a later lease of the target had the same account name'
 where provider in ('postgres', 'mysql', 'redis') and status in ('pending', 'creating', 'active', 'revoking', 'orphaned')
   and exists (select from leases later
                where later.org_id = l.org_id and later.target_id = l.target_id and later.resource_ref = l.resource_ref
                  and later.status in ('pending', 'creating', 'active', 'revoking', 'orphaned')
                  and (later.created_at, later.id) > (l.created_at, l.id));
create unique index leases_account_name on leases (org_id, target_id, resource_ref)
  where provider in ('postgres', 'mysql', 'redis') and status in ('pending', 'creating', 'active', 'revoking', 'orphaned');

-- The accounts whose password a rotation policy changes. Each belongs to one policy: with two, the password that one of
-- them has just written would stop working at the next run of the other.
create table rotation_accounts (
  org_id       ascii not null,
  -- provider, host and port: two targets on one server reach the same accounts
  server       text not null,
  -- as the server compares names: MySQL ignores the case of the host part
  account      text not null,
  rotation_id  ascii not null,
  primary key (org_id, server, account),
  foreign key (org_id, rotation_id) references rotation_policies on delete cascade
);
create index rotation_accounts_by_policy on rotation_accounts (org_id, rotation_id);

insert into rotation_accounts (org_id, server, account, rotation_id)
select p.org_id,
       t.provider || ' ' || rtrim(lower(t.config->'connection'->>'host'), '.') || ':' || (t.config->'connection'->>'port'),
       case p.kind when 'mysql' then named.username || '@' || lower(p.config->>'userHost') else named.username end,
       p.id
  from rotation_policies p
  join lease_targets t on t.org_id = p.org_id and t.id = p.target_id
 cross join lateral (values (p.config->>'username'), (p.config->>'alternateUsername')) as named (username)
 where p.kind <> 'generated' and named.username is not null
 order by p.created_at, p.id
on conflict do nothing;

-- The older of two policies keeps the account. The other one rests until an admin changes or deletes it.
update rotation_policies p
   set status = 'paused', next_run_at = null,
       last_error = 'another policy rotates the same account: delete one of the two, then resume'
 where p.kind <> 'generated' and p.target_id is not null
   and (select count(*) from rotation_accounts a where a.org_id = p.org_id and a.rotation_id = p.id)
       < 1 + (p.config->>'alternateUsername' is not null)::int;

-- A target that a policy uses is not deleted.
alter table rotation_policies drop constraint rotation_policies_org_id_target_id_fkey;
alter table rotation_policies add constraint rotation_policies_target
  foreign key (org_id, target_id) references lease_targets (org_id, id);

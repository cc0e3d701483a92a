import { notExpired } from '../../model/environments/table.ts'

/** SQL condition on `secret_versions v`: the version has another name than the one before it, so it is a renaming. */
const isRenaming = `exists (
  select from secret_versions b where b.org_id = v.org_id and b.secret_id = v.secret_id and b.version = v.version - 1
     and b.former_name is distinct from v.former_name)`

/**
 * SQL of the state that versions of a secret after a known one give its value: `rotated`, `replaced`, or null. A restored
 * version brings back a value that the person may know, so it counts for nothing, and so do versions before it.
 */
const newValue = ({ orgId, secretId, known }: { orgId: string; secretId: string; known: string }) => `(
  select case v.created_by_type when 'rotator' then 'rotated' else 'replaced' end
    from secret_versions v
   where v.org_id = ${orgId} and v.secret_id = ${secretId} and v.version > ${known}
     and v.restored_from_version is null and not ${isRenaming}
     and not exists (select from secret_versions b where b.org_id = v.org_id and b.secret_id = v.secret_id
                        and b.version > v.version and b.restored_from_version is not null)
   order by v.version desc limit 1)`

/** SQL of the newest version of the secret `s` that a person may have read until this instant; null means until now. */
export const knownVersion = (s: string, until: string) => `(
  select max(v.version) from secret_versions v
   where v.org_id = ${s}.org_id and v.secret_id = ${s}.id and (${until} is null or v.created_at <= ${until}))`

/** SQL condition on the secret `s`: its value is still one that a person may have read until this instant. */
export const isKnownValue = (s: string, until: string) => `(${until} is null or (
  ${knownVersion(s, until)} is not null
  and ${newValue({ orgId: `${s}.org_id`, secretId: `${s}.id`, known: knownVersion(s, until) })} is null))`

/**
 * SQL condition on `offboarding_rows r` of a value: the secret was deleted for good. An environment that was deleted with its
 * secrets does not count, because nobody decided about the values.
 */
const isPurged = `exists (select from environments e where e.org_id = r.org_id and e.id = r.environment_id)
   and not exists (select from secrets s where s.org_id = r.org_id and s.id = r.secret_id)
   and not exists (select from deleted_secrets s where s.org_id = r.org_id and s.id = r.secret_id)`

const ofRow = { orgId: 'r.org_id', secretId: 'r.secret_id', known: 'r.base_version' }

/** SQL of the state of `offboarding_rows r`: the stored one, or one that follows from other tables. */
export const rowState = (now: `$${number}`) => `case
  when r.state <> 'waiting' then r.state
  when r.kind = 'rotate_value' and ${isPurged} then 'deleted'
  when r.kind = 'rotate_value' then coalesce(${newValue(ofRow)}, 'waiting')
  when r.kind = 'rekey' and not exists (
    select from environments e where e.org_id = r.org_id and e.id = r.environment_id and ${notExpired(now)}) then 'deleted'
  when r.kind = 'recovery_share' and not exists (
    select from recoveries v where v.org_id = r.org_id and coalesce(v.rotated_at, v.created_at) = r.shared_at) then 'done'
  else 'waiting' end`

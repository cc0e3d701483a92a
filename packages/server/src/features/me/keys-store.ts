import type { me } from '@skerry/contract/me'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import { tokenInForce } from '../../identity/store.ts'

type Holding = Static<(typeof me.keyHoldings.responses)[200]>['holdings'][number]

/** False without keys, or where the public key is not the one that is named. */
export const resealKeys = async (db: Tx, userId: string, encryptedPrivateKey: string, publicKeyJwk: string | null) =>
  (await db.row(
    `update users set encrypted_private_key = $2
      where id = $1 and public_key_jwk is not null and ($3::text is null or public_key_jwk = $3) returning id`,
    [userId, encryptedPrivateKey, publicKeyJwk],
  )) !== undefined

/** False without keys, or where the public key is the one that is there. */
export const replaceKeys = async (db: Tx, userId: string, publicKeyJwk: string, encryptedPrivateKey: string) =>
  (await db.row(
    `update users set public_key_jwk = $2, encrypted_private_key = $3
      where id = $1 and public_key_jwk <> $2 returning id`,
    [userId, publicKeyJwk, encryptedPrivateKey],
  )) !== undefined

/** Grants that are being made hold the person's row: this waits for them, so that they are seen and dropped. */
export const lockOwnPrincipals = (db: Tx, userId: string) =>
  db.rows(`select 1 from principals where type = 'user' and id = $1 order by org_id for update`, [userId])

export const dropOwnGrants = (db: Tx, userId: string) =>
  db.rows(
    `delete from key_grants where principal_type = 'user' and principal_id = $1
        and org_id in (select org_id from memberships where user_id = $1)`,
    [userId],
  )

/** They hold the old private key. */
export const dropKeyringPasskeys = (db: Tx, userId: string) =>
  db.rows('delete from passkeys where user_id = $1', [userId])

const label = `coalesce(gr.slug || ':' || e.slug, a.slug || '/' || case
  when e.parent_environment_id is null then e.slug else p.slug || '@' || e.slug end)`

/** Of `key_grants o` on the same environment: admins who could grant it to somebody. */
const grantableBy = (now: `$${number}`) => `
  select jsonb_build_object('principalType', o.principal_type, 'principalId', o.principal_id,
                            'name', coalesce(u.email, u.name, t.name)) as holder, o.created_at, o.id
    from key_grants o
    left join memberships m on o.principal_type = 'user' and m.org_id = o.org_id and m.user_id = o.principal_id
    left join users u on u.id = m.user_id
    left join service_tokens t on o.principal_type = 'service_token' and t.org_id = o.org_id and t.id = o.principal_id
   where o.org_id = k.org_id and o.environment_id = k.environment_id and o.id <> k.id
     and (m.role in ('owner', 'admin') or (t.role = 'admin' and ${tokenInForce(now)}))`

export const listHoldings = (db: Sql, userId: string, now: string) =>
  db.rows<Holding>(
    `select k.org_id, org.slug as org_slug, k.environment_id, ${label} as label,
            coalesce((select jsonb_agg(h.holder order by h.created_at, h.id) from (${grantableBy('$2')}) h), '[]'::jsonb)
              as grantable_by
       from key_grants k
       join memberships own on own.org_id = k.org_id and own.user_id = k.principal_id
       join organizations org on org.id = k.org_id
       join environments e on e.org_id = k.org_id and e.id = k.environment_id
       left join environments p on p.org_id = e.org_id and p.id = e.parent_environment_id
       left join applications a on a.org_id = e.org_id and a.id = e.application_id
       left join groups gr on gr.org_id = e.org_id and gr.id = e.group_id
      where k.principal_type = 'user' and k.principal_id = $1
        and (e.expires_at is null or e.expires_at > $2)
      order by org_slug, label`,
    [userId, now],
  )

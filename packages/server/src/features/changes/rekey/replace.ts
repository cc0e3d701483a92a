import type { Tx } from '../../../db/database.ts'
import { renewManifests } from '../../../model/environments/write.ts'
import { rewrapGrants } from '../../../model/grants/write.ts'
import { markLost } from '../../../model/secrets/deleted.ts'
import { dropSealedDetails, resealDetails } from '../../../model/secrets/details.ts'
import { resealSecrets } from '../../../model/secrets/versions.ts'
import { lockOut } from '../../../model/teams/write.ts'
import type { Env } from '../../envs/scope.ts'
import { settleRows } from '../../offboardings/settled.ts'
import { coverAnew } from '../../recovery/covering.ts'
import { type Keyed, keptGrants, type RekeyBody } from './checks.ts'

interface Replaced {
  rekeyedSecrets: number
  grants: number
  /** The metadata of the audit entry `env.rekeyed`. */
  facts: {
    slug: string
    secrets: number
    grants: number
    removed: { principalType: string; principalId: string }[]
  }
}

/**
 * Replaces the key of an environment: every current ciphertext and every wrapped key at once. `author` made the new key. The
 * body must have passed its checks against `keyed`. The caller closes the open changes of the environment and records
 * `env.rekeyed`.
 */
export async function replaceKey(
  { db, now }: { db: Tx; now: string },
  env: Env,
  { body, author, keyed }: { body: RekeyBody; author: { type: string; id: string }; keyed: Keyed },
): Promise<Replaced> {
  const { secrets, holders } = keyed
  const kept = keptGrants(body, holders)
  const sealed = new Map(body.secrets.map(({ name, ciphertext }) => [name, ciphertext]))
  const resealed = secrets.map(({ id, name }) => ({ id, ciphertext: sealed.get(name) as string }))
  await settleRows({ db, principal: author, now }, env)
  await Promise.all([
    ...resealSecrets(db, env, resealed, { author, now }),
    markLost(db, env),
    body.details ? resealDetails(db, env, body.details) : dropSealedDetails(db, env),
    rewrapGrants({ db, principal: author }, env, kept),
    coverAnew({ db, now }, env, body.recoveryWrappedDek),
    renewManifests(db, env, body.manifests ?? []),
  ])
  const keptIds = new Set(kept.map(({ id }) => id))
  const removed = holders.filter(({ id }) => !keptIds.has(id))
  const people = removed.filter(({ principalType, inForce }) => principalType === 'user' && inForce)
  await lockOut(
    db,
    env,
    people.map(({ principalId }) => principalId),
  )
  const counts = { secrets: secrets.length, grants: kept.length }
  return {
    rekeyedSecrets: counts.secrets,
    grants: counts.grants,
    facts: {
      slug: env.slug,
      ...counts,
      removed: removed.map(({ principalType, principalId }) => ({ principalType, principalId })),
    },
  }
}

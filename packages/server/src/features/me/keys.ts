import type { me } from '@skerry/contract/me/endpoints'
import { checkPublicKey } from '../../http/public-key.ts'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { findPerson, listOrgIds } from '../../identity/store.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { lockPerson } from '../../model/grants/table.ts'
import { deleteGrantsOfPerson } from '../../model/grants/write.ts'
import { deletePasskeys } from '../../model/people/passkeys.ts'
import { deleteRecoveryKit } from '../../model/people/recovery-kits.ts'
import { replaceKeys, resealKeys } from '../../model/people/users.ts'
import { dropGrants } from '../kms/grantees.ts'
import { dropOverrides } from '../overrides/replaced-keys.ts'
import { removeCustodianships } from '../recovery/custodians.ts'
import { listHoldings } from './keys-store.ts'

interface Person {
  principal: UserPrincipal
}

/**
 * The public key stays, because others have wrapped keys to it. A client that names it cannot overwrite a newer pair.
 */
export async function reseal(input: In<typeof me.patchKeys, Person>): Out<typeof me.patchKeys> {
  const { db, principal, body } = input
  if (body.publicKeyJwk !== undefined) checkPublicKey('body.publicKeyJwk', body.publicKeyJwk)
  const stored = await resealKeys(db, principal.id, body.encryptedPrivateKey, body.publicKeyJwk ?? null)
  if (!stored) throw fail('conflict', 'no keys with that public key are stored')
  await auditUser(input, principal.id, 'user.keys_resealed', principal.id)
  return { ok: true }
}

export async function holdings({ db, principal, now }: In<typeof me.keyHoldings, Person>): Out<typeof me.keyHoldings> {
  return { holdings: await listHoldings(db, principal.id, now) }
}

/** Deletes everything that was wrapped to the old key. Others must check the new key before they wrap to it. */
export async function replace(input: In<typeof me.replaceKeys, Person>): Out<typeof me.replaceKeys> {
  const { db, principal, body, now, audit, emit } = input
  checkPublicKey('body.publicKeyJwk', body.publicKeyJwk)
  const replaced = await replaceKeys(db, principal.id, body.publicKeyJwk, body.encryptedPrivateKey)
  if (!replaced) throw fail('conflict', 'there is no earlier key pair to replace')
  await lockPerson(db, principal.id)
  const lost = await listHoldings(db, principal.id, now)
  await deleteGrantsOfPerson(db, principal.id)
  const dropped = await dropOverrides(db, principal.id)
  await deletePasskeys(db, principal.id)
  await deleteRecoveryKit(db, principal.id)
  const { email, name } = (await findPerson(db, principal.id)) ?? {}
  const orgIds = await listOrgIds(db, principal.id)
  for (const orgId of orgIds) {
    const environmentIds = lost.filter((one) => one.orgId === orgId).map((one) => one.environmentId)
    const overrides = dropped.get(orgId)
    audit('user.keys_replaced', principal.id, { environmentIds, ...(overrides && { overrides }) }, { orgId })
    await dropGrants({ db, audit }, orgId, { principalType: 'user', principalId: principal.id }, 'user.keys_replaced')
    const person = email ?? name ?? principal.id
    await emit('user.keys_replaced', { userId: principal.id, person, environments: environmentIds.length }, orgId)
  }
  await removeCustodianships(input, principal.id, 'user.keys_replaced')
  if (orgIds.length === 0) audit('user.keys_replaced', principal.id, { environmentIds: [] }, { orgId: null })
  return { lost }
}

import type { recoveryKit } from '@skerry/contract/me/recovery-kit'
import { checkPublicKey } from '../../http/public-key.ts'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { deleteRecoveryKit, putRecoveryKit } from '../../model/people/recovery-kits.ts'
import { findRecoveryKit, lockKeys } from './store.ts'

interface Person {
  principal: UserPrincipal
}

export async function get({ db, principal }: In<typeof recoveryKit.get, Person>): Out<typeof recoveryKit.get> {
  return { kit: (await findRecoveryKit(db, principal.id)) ?? null }
}

/** A client names the public key, so that no kit of an earlier key pair is stored after the key pair was replaced. */
export async function put(input: In<typeof recoveryKit.put, Person>): Out<typeof recoveryKit.put> {
  const { db, principal, body, now } = input
  checkPublicKey('body.publicKeyJwk', body.publicKeyJwk)
  const keys = await lockKeys(db, principal.id)
  if (keys?.publicKeyJwk !== body.publicKeyJwk) throw fail('conflict', 'no keys with that public key are stored')
  const earlier = await findRecoveryKit(db, principal.id)
  const kit = { encryptedPrivateKey: body.encryptedPrivateKey, createdAt: now }
  if (!(await putRecoveryKit(db, principal.id, kit))) return { kit: earlier ?? kit }
  await auditUser(input, principal.id, 'user.recovery_kit_made', principal.id, { replaced: earlier !== undefined })
  return { kit }
}

export async function remove(input: In<typeof recoveryKit.delete, Person>): Out<typeof recoveryKit.delete> {
  const { db, principal } = input
  if (!(await deleteRecoveryKit(db, principal.id))) throw fail('not_found', 'you have no recovery kit')
  await auditUser(input, principal.id, 'user.recovery_kit_removed', principal.id)
  return { ok: true }
}

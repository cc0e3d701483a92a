import { limits } from '@skerry/contract/limits'
import type { passkeys } from '@skerry/contract/passkeys/endpoints'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { deletePasskey, insertPasskey } from '../../model/people/passkeys.ts'
import { countPasskeys, listPasskeys, lockUser } from './store.ts'

interface Person {
  principal: UserPrincipal
}

export async function list({ db, principal }: In<typeof passkeys.list, Person>): Out<typeof passkeys.list> {
  return { passkeys: await listPasskeys(db, principal.id) }
}

export async function create(input: In<typeof passkeys.create, Person>): Out<typeof passkeys.create> {
  const { db, principal, body, now, newId } = input
  await lockUser(db, principal.id)
  if ((await countPasskeys(db, principal.id)) >= limits.passkeysMax)
    throw fail('conflict', `${limits.passkeysMax} passkeys are there already; remove one first`)
  const passkey = await insertPasskey(db, principal.id, { id: newId('passkey'), ...body, createdAt: now })
  if (!passkey) throw fail('conflict', 'body.credentialId: is already enrolled')
  await auditUser(input, principal.id, 'user.passkey_enrolled', passkey.id, { label: passkey.label })
  return { passkey }
}

/** Removes one way to decrypt the private key. The key, and everything that is wrapped to it, stay. */
export async function remove(input: In<typeof passkeys.delete, Person>): Out<typeof passkeys.delete> {
  const { db, principal, params } = input
  const passkey = await deletePasskey(db, principal.id, params.passkeyId)
  if (!passkey) throw fail('not_found', 'no such passkey')
  await auditUser(input, principal.id, 'user.passkey_removed', params.passkeyId, { label: passkey.label })
  return { ok: true }
}

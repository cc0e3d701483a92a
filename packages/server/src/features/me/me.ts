import type { me } from '@skerry/contract/me/endpoints'
import { type Caller, isHalfSignedIn } from '../../http/access.ts'
import { checkPublicKey } from '../../http/public-key.ts'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { findPerson } from '../../identity/store.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { setKeys } from '../../model/people/users.ts'
import { allOrgs } from '../orgs/orgs.ts'
import { findKeys } from './store.ts'

/** A session lists its organizations only after the second factor: access to a mailbox alone must not reveal them. */
export async function get({ db, context, principal }: In<typeof me.get, Caller>): Out<typeof me.get> {
  const user = principal.type === 'user' ? ((await findPerson(db, principal.id)) ?? null) : null
  const orgs = isHalfSignedIn(context, principal) ? [] : await allOrgs(db, principal)
  const session = principal.type === 'user' ? principal.session : null
  return { user, orgs, principal: { type: principal.type, id: principal.id }, session }
}

interface Person {
  principal: UserPrincipal
}

export async function getKeys({ db, principal }: In<typeof me.getKeys, Person>): Out<typeof me.getKeys> {
  const keys = await findKeys(db, principal.id)
  return { publicKeyJwk: keys?.publicKeyJwk ?? null, encryptedPrivateKey: keys?.encryptedPrivateKey ?? null }
}

/** Keys can be uploaded once. Grants are wrapped to this key, so another upload would lock its owner out. */
export async function putKeys(input: In<typeof me.putKeys, Person>): Out<typeof me.putKeys> {
  const { db, principal, body } = input
  checkPublicKey('body.publicKeyJwk', body.publicKeyJwk)
  const stored = await setKeys(db, principal.id, body.publicKeyJwk, body.encryptedPrivateKey)
  if (!stored) throw fail('conflict', 'keys were uploaded before')
  await auditUser(input, principal.id, 'user.keys_uploaded', principal.id)
  return { ok: true }
}

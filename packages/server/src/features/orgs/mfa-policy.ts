import type { mfaPolicy } from '@skerry/contract/orgs/endpoints'
import type { Context } from '../../http/context.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { isSecondFactorBehind } from '../../kernel/principal.ts'
import { updateMfaRequired } from '../../model/organizations/write.ts'
import type { InOrg } from './scope.ts'
import { isMfaRequired } from './store.ts'

/** Whether people can sign in, and so enter a second factor: there is an issuer, or a key to sign sessions with. */
const isConfigured = ({ oidc, serverKey }: Context): boolean => oidc !== null || serverKey !== null

export async function get({ db, org, context }: In<typeof mfaPolicy.get, InOrg>): Out<typeof mfaPolicy.get> {
  return { required: await isMfaRequired(db, org), configured: isConfigured(context) }
}

/** A person who turns it on must have entered a second factor. Otherwise they could lock everyone out by mistake. */
export async function update(input: In<typeof mfaPolicy.update, InOrg>): Out<typeof mfaPolicy.update> {
  const { db, org, principal, body, now, context, audit } = input
  const { required } = body
  if (required && !isConfigured(context))
    throw fail('conflict', 'this server cannot sign people in, so nobody could enter a second factor')
  if (required && principal.type === 'user' && !isSecondFactorBehind(principal.session))
    throw fail('mfa_required', 'enroll a second factor and enter it first, or this would lock you out')
  const changed = await updateMfaRequired(db, org, required, now)
  if (changed) audit('org.mfa_policy_updated', org.id, { required })
  return { required, configured: isConfigured(context) }
}

import type { ServiceToken } from '@skerry/contract/tokens/schemas'
import type { Static } from 'typebox'

// The table `service_tokens`. Only write.ts changes its rows.

/** The row in the form of the API. */
export type TokenRow = Static<typeof ServiceToken>

/** Columns of `service_tokens t left join service_token_uses u`. The hash is never among them. */
export const tokenColumns = `t.id, t.org_id, t.role, t.environment_id, t.name, t.public_key_jwk,
  t.expires_at_given as expires_at, u.last_used_at, t.revoked_at, t.created_at, t.created_by_type,
  t.created_by_id`

/** SQL condition on `service_tokens t`, at the instant of a parameter: the token is not revoked, deleted or expired. */
export const tokenStands = (now: `$${number}`) =>
  `t.revoked_at is null and t.deleted_at is null and (t.expires_at is null or t.expires_at > ${now})`

/** SQL condition like `tokenStands`, and the branch that the token is bound to has not expired either. */
export const tokenInForce = (now: `$${number}`) =>
  `${tokenStands(now)}
   and (t.environment_id is null or not exists (
     select from environments b where b.org_id = t.org_id and b.id = t.environment_id and b.expires_at <= ${now}))`

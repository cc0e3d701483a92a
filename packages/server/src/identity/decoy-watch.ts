import { hkdfSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { bearerInfo, credentialPrefixes, idLength } from '@skerry/contract/prefixes'
import type { Origin } from '../kernel/audit.ts'
import { instant, sha256 } from '../kernel/context.ts'
import type { IdentityContext } from './context.ts'
import type { Presented } from './rejected-tokens.ts'

const tokenId = `${credentialPrefixes.serviceToken}[0-9A-Za-z]{${idLength}}`
/**
 * Finds a token anywhere in the header, for example as the user of Basic, where some programs send a token that they
 * found.
 */
const tokenForm = new RegExp(`(${tokenId})[^\\s:]*`)
const wholeForm = new RegExp(`^(${tokenId})_([A-Za-z0-9_-]{43})$`)

/**
 * Records the service token of a request that is refused or that needs none. A caller who presents a decoy has found
 * it.
 */
export function noteRefusedToken(context: IdentityContext, { headers }: IncomingMessage, origin: Origin): void {
  const { authorization } = headers
  if (!authorization) return
  const [, basic] = /^basic +(\S+)/i.exec(authorization) ?? []
  const text = basic === undefined ? authorization : Buffer.from(basic, 'base64').toString('latin1')
  const [bearer, id] = tokenForm.exec(text) ?? []
  if (bearer === undefined || id === undefined) return
  const presented = { tokenId: id, bearerHash: sha256(bearer), derivedHash: derivedHash(bearer), byOrgId: null }
  context.rejectedTokens.note(presented, origin, instant(context))
}

/** Records an attempt to register an id that is already registered. A person who tests a found token may do that. */
export function noteTokenInUse(
  context: IdentityContext,
  taken: Pick<Presented, 'tokenId' | 'byOrgId'>,
  origin: Origin,
): void {
  const { tokenId } = taken
  // The id of the decoy is recorded, and not the hash in the request: the caller chooses the hash, so it proves
  // nothing.
  const presented = { ...taken, bearerHash: sha256(tokenId), derivedHash: null }
  context.rejectedTokens.note(presented, origin, instant(context))
}

/**
 * Returns the hash under which the bearer of a whole token is registered; `crypto` derives that bearer. Bearers and
 * whole tokens have the same format. So every unknown bearer costs the same derivation, a few microseconds.
 */
function derivedHash(bearer: string): string | null {
  const [, id, rest] = wholeForm.exec(bearer) ?? []
  if (id === undefined || rest === undefined) return null
  const derived = hkdfSync('sha256', Buffer.from(rest, 'base64url'), id, bearerInfo, 32)
  return sha256(`${id}_${Buffer.from(derived).toString('base64url')}`)
}

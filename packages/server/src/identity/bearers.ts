import type { Surface } from '@skerry/contract/endpoint'
import { credentialPrefixes } from '@skerry/contract/prefixes'
import type { Origin } from '../kernel/audit.ts'
import { instant, sha256 } from '../kernel/context.ts'
import { endUserDigest } from '../kernel/end-user.ts'
import { fail } from '../kernel/errors.ts'
import type {
  AnyPrincipal,
  EndUserPrincipal,
  ExecutorPrincipal,
  PlatformPrincipal,
  Principal,
} from '../kernel/principal.ts'
import { basicCredentials, machineClient } from './client-credentials.ts'
import type { IdentityContext } from './context.ts'
import { isOwnToken } from './session-tokens.ts'
import { issuerOf, sessionUser } from './sessions.ts'
import { findAccessToken, findCliSession, findServiceToken } from './store.ts'
import { signedInUser } from './users.ts'
import { findClaim, findExecutor, findPlatformKey } from './vault-store.ts'

type Identify = (context: IdentityContext, credential: string, origin: Origin) => Promise<AnyPrincipal>

/** A kind of credential: its format, the operations that accept it, and the function that finds its owner. */
interface Bearer {
  scheme: 'bearer' | 'basic'
  form: RegExp
  surface: Exclude<Surface, 'none'>
  identify: Identify
}

const startsWith = (prefix: string) => new RegExp(`^${prefix}`)

/** All credentials that an Authorization header may carry. No two formats overlap. */
const bearers: readonly Bearer[] = [
  {
    scheme: 'bearer',
    form: startsWith(credentialPrefixes.serviceToken),
    surface: 'principal',
    identify: serviceToken,
  },
  {
    scheme: 'bearer',
    form: startsWith(credentialPrefixes.cliSession),
    surface: 'principal',
    identify: cliSession,
  },
  {
    scheme: 'bearer',
    form: startsWith(credentialPrefixes.machineAccess),
    surface: 'principal',
    identify: accessToken,
  },
  {
    scheme: 'bearer',
    form: startsWith(credentialPrefixes.vaultPlatform),
    surface: 'platform',
    identify: vaultPlatform,
  },
  {
    scheme: 'bearer',
    form: startsWith(credentialPrefixes.vaultExecutor),
    surface: 'executor',
    identify: vaultExecutor,
  },
  {
    scheme: 'bearer',
    form: startsWith(credentialPrefixes.vaultClaim),
    surface: 'claim',
    identify: vaultClaim,
  },
  // A JSON web token in its compact form, RFC 7515 section 7.1.
  {
    scheme: 'bearer',
    form: /^[\w-]+\.[\w-]+\.[\w-]+$/,
    surface: 'principal',
    identify: sessionOf,
  },
  {
    scheme: 'basic',
    form: /./,
    surface: 'principal',
    identify: clientSecret,
  },
]

/** Finds the owner of a credential. A credential for another surface is refused like an unknown one. */
export async function identify(
  context: IdentityContext,
  surface: Surface,
  authorization: string | undefined,
  origin: Origin,
): Promise<AnyPrincipal> {
  if (!authorization) throw fail('unauthorized', 'send an Authorization header')
  const [scheme = '', credential, ...rest] = authorization.split(' ')
  if (!credential || rest.length > 0) throw fail('unauthorized', 'Authorization: send one scheme and one credential')
  const kind = scheme.toLowerCase()
  if (!bearers.some((bearer) => bearer.scheme === kind))
    throw fail('unauthorized', 'Authorization: only Bearer and Basic are known')
  const bearer = bearers.find(({ scheme, form }) => scheme === kind && form.test(credential))
  if (bearer?.surface !== surface) throw fail('unauthorized', 'unknown credential')
  return bearer.identify(context, credential, origin)
}

/**
 * Verifies our own session token, or one of the external identity provider. The issuer claim only selects the verifier.
 */
function sessionOf(context: IdentityContext, jwt: string, origin: Origin): Promise<Principal> {
  // Refuses non-canonical base64url. Several spellings of one token could be mistaken for several tokens.
  const parts = jwt.split('.')
  if (parts.some((part) => Buffer.from(part, 'base64url').toString('base64url') !== part))
    throw fail('unauthorized', 'session token refused')
  return isOwnToken(jwt) ? sessionUser(context, jwt) : signedInUser(context, jwt, origin)
}

/**
 * Gives the same answer, byte for byte and after the same work, for unknown, revoked and expired tokens and for decoys.
 * An attacker who tries tokens learns only that they do not work. The kind of a refused token is looked up after the
 * answer.
 */
async function serviceToken(context: IdentityContext, bearer: string): Promise<Principal> {
  const bearerHash = sha256(bearer)
  const generation = context.tokenMemory.generation()
  const token = await findServiceToken(context.db.lookups, bearerHash)
  const now = instant(context)
  const usable =
    token && token.revokedAt === null && token.deletedAt === null && (token.expiresAt === null || token.expiresAt > now)
  if (!usable) throw fail('unauthorized', 'unknown service token')
  context.lastUsed.note(token, Date.parse(now))
  const { id, orgId, role, environmentId, expiresAt } = token
  const validUntilMs = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
  const principal = { type: 'service_token', id, orgId, role, environmentId, validUntilMs } as const
  context.tokenMemory.keepToken(generation, bearerHash, principal)
  return principal
}

/**
 * Looked up at each request, so that every server refuses a revoked session at its next request. All failures get the
 * same answer.
 */
async function cliSession(context: IdentityContext, bearer: string): Promise<Principal> {
  const session = await findCliSession(context.db.lookups, sha256(bearer), issuerOf(context))
  const usable =
    session && session.revokedAt === null && session.expiresAt > instant(context) && bearer.startsWith(`${session.id}_`)
  if (!usable) throw fail('unauthorized', 'unknown CLI session')
  context.lastUsed.noteCliSession(session.id, context.now().getTime())
  const { id, userId, secondFactor, mfaAt } = session
  return { type: 'user', id: userId, session: { kind: 'cli', id, secondFactor, mfaAt } }
}

async function accessToken(context: IdentityContext, bearer: string): Promise<Principal> {
  const found = await findAccessToken(context.db.lookups, sha256(bearer), instant(context))
  if (!found) throw fail('unauthorized', 'unknown access token')
  const { clientId: id, orgId } = found
  context.lastUsed.noteMachineClient({ orgId, id }, context.now().getTime())
  return { type: 'm2m', id, orgId }
}

async function clientSecret(context: IdentityContext, credential: string): Promise<Principal> {
  const client = await machineClient(context.db.lookups, basicCredentials(credential))
  context.lastUsed.noteMachineClient(client, context.now().getTime())
  return client
}

/** Unknown and revoked keys get the same answer. */
async function vaultPlatform(context: IdentityContext, bearer: string): Promise<PlatformPrincipal> {
  const key = await findPlatformKey(context.db.lookups, sha256(bearer))
  if (!key) throw fail('unauthorized', 'unknown platform key')
  context.lastUsed.noteVault(key, context.now().getTime())
  return { type: 'vault_platform', ...key }
}

/** Unknown and disabled executors get the same answer. The calls of an executor show that it is alive. */
async function vaultExecutor(context: IdentityContext, bearer: string): Promise<ExecutorPrincipal> {
  const executor = await findExecutor(context.db.lookups, sha256(bearer))
  if (!executor) throw fail('unauthorized', 'unknown executor')
  context.lastUsed.noteVault(executor, context.now().getTime())
  return { type: 'vault_executor', ...executor }
}

/** Unknown and expired claims get the same answer. */
async function vaultClaim(context: IdentityContext, bearer: string): Promise<EndUserPrincipal> {
  const claim = await findClaim(context.db.lookups, sha256(bearer), instant(context))
  if (!claim) throw fail('unauthorized', 'unknown claim token')
  const { userRef, ...rest } = claim
  return { type: 'vault_end_user', id: endUserDigest(claim.projectId, userRef), ...rest }
}

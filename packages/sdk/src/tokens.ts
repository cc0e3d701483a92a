import type { Answer } from '@skerry/contract/endpoint'
import type { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import type { tokens } from '@skerry/contract/tokens/endpoints'
import { tokenHash } from '@skerry/crypto/digest'
import { newToken, type ParsedToken, parseToken, type TokenFormat } from '@skerry/crypto/token'
import { parseAnyToken } from './any-token.ts'
import type { Client } from './client.ts'
import type { DirectorySettings } from './directory/memory.ts'
import { SkerryError } from './errors.ts'
import { pagesOf } from './pages.ts'
import type { RememberingHolder } from './secrets.ts'

export type HoneyToken = Answer<typeof honeyTokens.create>['honeyToken']
export type ServiceToken = Answer<typeof tokens.create>['token']

export interface NewServiceToken {
  orgId: string
  name: string
  /** Default: `member`, which reads and writes secrets that it has a grant for. `admin` also administers. */
  role?: 'member' | 'admin'
  /** The only environment that the token resolves. A grant is still needed. */
  environmentId?: string | null
  /** ISO 8601 with milliseconds and `Z`. Default: never. */
  expiresAt?: string | null
  /** Default: `skerry`. `classic` is for the published clients. */
  format?: TokenFormat
}

/** A token that was just created. `token` is stored nowhere: show it once or store it, then discard it. */
export interface CreatedServiceToken {
  token: string
  parsed: ParsedToken
  serviceToken: ServiceToken
}

/**
 * Creates a service token on this machine and registers it. The server gets its id, the hash of its bearer and its
 * public key. The token reads nothing until it is granted a key; see `grantEnvironment`.
 *
 * @throws RefusedError `forbidden`, `not_found`, `invalid_request`; UnavailableError, after which the token may be
 *   registered: nobody has it, and it can be deleted.
 * @example
 * const { token, serviceToken, parsed } = await createServiceToken(client, { orgId, name: 'web', environmentId: envId })
 * await grantEnvironment(client, { orgId, envId, principalType: 'service_token', principalId: serviceToken.id,
 *   publicKeyJwk: parsed.publicKeyJwk }, key.bytes)
 */
export async function createServiceToken(client: Client, settings: NewServiceToken): Promise<CreatedServiceToken> {
  const { orgId, name, role = 'member', environmentId, expiresAt, format = 'skerry' } = settings
  const { token, tokenHash, ...parsed } = await newToken(format)
  const { tokenId, publicKeyJwk } = parsed
  const body = { name, tokenId, tokenHash, publicKeyJwk, role, environmentId, expiresAt }
  const { token: serviceToken } = await client.tokens.create({ params: { orgId }, body })
  return { token, parsed, serviceToken }
}

/** A token that a program reads and writes with. */
export interface OpenedToken {
  tokenId: string
  /** The credential of `createClient`. */
  bearer: string
  /** The private key, for `environmentKey` and for re-keys. */
  holder: RememberingHolder
  publicKeyJwk: string
}

/**
 * Opens a token of any format for a program that writes. If the token carries a pin, or `directory` has a pin or a memory, the
 * holder uses only keys of environments that people of the organization signed.
 *
 * @param directory `name` is needed for an environment that the token is not bound to.
 * @throws CryptoError `malformed_token`, `malformed_pin`; SkerryError `invalid_request` if the token is for another
 *   environment than `directory.name`.
 * @example const { bearer, holder } = await openToken(token) // `holder` is for `environmentKey`
 */
export async function openToken(token: string, directory: DirectorySettings = {}): Promise<OpenedToken> {
  const parsed = await parseAnyToken(token)
  const { tokenId, bearer, privateKey, publicKeyJwk, format } = parsed
  const opened = { tokenId, bearer, publicKeyJwk }
  if (!parsed.pin && !directory.memory && !directory.pins?.length) return { ...opened, holder: privateKey }
  const [{ withToken }, { processMemory }] = await Promise.all([
    import('./directory/reader.ts'),
    import('./directory/memory.ts'),
  ])
  const settings = { memory: processMemory(), ...withToken(directory, parsed), token: { id: tokenId, format } }
  return { ...opened, holder: { ...privateKey, directory: settings } }
}

/** The facts about a token that a server stores. The facts are not secret. */
export interface TokenRegistration {
  tokenId: string
  /** Base64url SHA-256 of the bearer. */
  tokenHash: string
  publicKeyJwk: string
}

/**
 * Computes the registration of an existing token, with or without a pin. Sends no request.
 *
 * @throws CryptoError `malformed_token`, `malformed_pin`.
 * @example const registration = await registrationOf(token)
 */
export async function registrationOf(token: string): Promise<TokenRegistration> {
  // Only a token with a pin has a dot.
  const parse = token.includes('.')
    ? (await import('@skerry/crypto/directory/pinned-token')).parsePinnedToken
    : parseToken
  const { tokenId, bearer, publicKeyJwk } = await parse(token)
  return { tokenId, tokenHash: await tokenHash(bearer), publicKeyJwk }
}

/**
 * Registers a token again in an organization that was restored from its archive, which contains no token hashes. Name,
 * role and environment stay the same.
 *
 * @throws SkerryError `not_found` if the organization has no such token; RefusedError `conflict` if it is already
 *   registered, or had another key.
 * @example await registerRestored(client, orgId, await registrationOf(token))
 */
export async function registerRestored(
  client: Client,
  orgId: string,
  registration: TokenRegistration,
): Promise<ServiceToken> {
  const known = await findToken(client, orgId, registration.tokenId)
  const { name, role, environmentId } = known
  const body = { ...registration, name, role, environmentId }
  return (await client.tokens.create({ params: { orgId }, body })).token
}

async function findToken(client: Client, orgId: string, tokenId: string): Promise<ServiceToken> {
  for await (const { tokens } of pagesOf((query) => client.tokens.list({ params: { orgId }, query }))) {
    const found = tokens.find(({ id }) => id === tokenId)
    if (found) return found
  }
  throw new SkerryError('not_found', `the organization has no token ${tokenId}`)
}

/**
 * Creates the first admin service token for a machine that has only the client credentials of a signup. The machine
 * continues with that token, because a machine client holds no key and so cannot create an environment.
 *
 * @param machine a client with `{ clientId, clientSecret }` as its credential.
 * @param settings.orgId default: the machine client's organization.
 * @throws SkerryError `not_found` when the machine client is in no organization, or in several; the errors of
 *   `createServiceToken`.
 * @example
 * const machine = createClient({ baseUrl, credential: { clientId: 'm2m_...', clientSecret: '...' } })
 * const { token, parsed } = await bootstrapAdmin(machine, { name: 'ci' })
 * const client = createClient({ baseUrl, credential: { bearer: parsed.bearer } })
 */
export async function bootstrapAdmin(
  machine: Client,
  settings: Omit<NewServiceToken, 'orgId' | 'role' | 'environmentId'> & { orgId?: string },
): Promise<CreatedServiceToken> {
  const orgId = settings.orgId ?? (await onlyOrg(machine))
  return createServiceToken(machine, { ...settings, orgId, role: 'admin' })
}

/**
 * Creates a decoy on this machine and registers it. The decoy looks exactly like a service token of `settings.format`,
 * and never works. No copy of it is stored: plant the text, then discard it.
 *
 * The server gets the hash of the bearer that this package would send for the decoy. The server also recognises, by its
 * id, a decoy that is sent whole.
 *
 * @param settings.placement where it will be planted, for the admins who are notified when someone tries it.
 * @throws RefusedError `forbidden`, `invalid_request`; UnavailableError.
 * @example const { token } = await createHoneyToken(client, { orgId, placement: '.env of the old server' })
 */
export async function createHoneyToken(
  client: Client,
  settings: { orgId: string; placement?: string; format?: TokenFormat },
): Promise<{ token: string; honeyToken: HoneyToken }> {
  const { orgId, placement, format = 'skerry' } = settings
  const { token, tokenId, tokenHash } = await newToken(format)
  const body = { tokenId, tokenHash, placement }
  const { honeyToken } = await client.honeyTokens.create({ params: { orgId }, body })
  return { token, honeyToken }
}

async function onlyOrg(client: Client): Promise<string> {
  const { orgs } = await client.me.get()
  const [org, ...more] = orgs
  if (!org || more.length > 0)
    throw new SkerryError('not_found', 'the credential belongs to no organization or to several: name one with orgId')
  return org.id
}

import type { Answer } from '@skerry/contract/endpoint'
import type { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import type { tokens } from '@skerry/contract/tokens/endpoints'
import { tokenHash } from '@skerry/crypto/digest'
import { newToken, type ParsedToken, parseToken, type TokenFormat } from '@skerry/crypto/token'
import { parseAnyToken } from './any-token.ts'
import type { Client } from './client.ts'
import type { DirectorySettings } from './directory/memory.ts'
import type { RememberingHolder } from './environment-key.ts'
import { SkerryError } from './errors.ts'
import { pagesOf } from './pages.ts'

/**
 * A decoy in a response of the server. A decoy is a token that gives no access: if somebody uses it, the server tells
 * the admins.
 */
export type HoneyToken = Answer<typeof honeyTokens.create>['honeyToken']
/**
 * A service token in a response of the server. It has the id, the name and the public key, but not the text of the
 * token.
 */
export type ServiceToken = Answer<typeof tokens.create>['token']

/** The settings of a new service token. */
export interface NewServiceToken {
  orgId: string
  /** The name of the token, for people. */
  name: string
  /**
   * A token with the role `member` can read and write the environments for which it has a grant. A token with the role
   * `admin` can also manage the organization. Default: `member`.
   */
  role?: 'member' | 'admin'
  /**
   * The id of the environment to which the token is bound. The token can read the environment only after somebody has
   * granted the key to the token. Default: the token is not bound.
   */
  environmentId?: string | null
  /** The time at which the token expires: ISO 8601 with milliseconds and `Z`. Default: the token does not expire. */
  expiresAt?: string | null
  /** The format of the token. `classic` is for clients that are not part of Skerry. Default: `skerry`. */
  format?: TokenFormat
}

/** A new service token. */
export interface CreatedServiceToken {
  /**
   * The text of the token, with which a program signs in and decrypts. Neither the SDK nor the server stores this text,
   * so show it now, or store it yourself.
   */
  token: string
  /** The parts of the token: its bearer and its key pair. */
  parsed: ParsedToken
  /** The token as the server stores it. */
  serviceToken: ServiceToken
}

/**
 * Makes a service token on this machine, and registers it on the server. The server gets the id of the token, the hash
 * of its bearer and its public key. The token cannot read an environment until you grant the key of the environment to
 * the token with `grantEnvironment`.
 *
 * @throws RefusedError `forbidden`, `not_found`, `invalid_request`; UnavailableError. The server may have registered
 *   the token, but nobody has its text, so you can delete the token.
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

/** The parts of a token that a program needs to read and write secrets. */
export interface OpenedToken {
  /** The id of the token. */
  tokenId: string
  /** The text for the setting `credential` of `createClient`: `{ bearer }`. */
  bearer: string
  /** The private key, with settings for the signed directory. Pass it to `environmentKey` and `rekeyEnvironment`. */
  holder: RememberingHolder
  /** The public key of the token, a JWK as a JSON string. */
  publicKeyJwk: string
}

/**
 * Reads the text of a token, in any format, so that a program can read and write secrets with it. If the token contains
 * a pin, or if `directory` has a pin or a memory, the returned `holder` accepts only keys that the signed directory of
 * the organization lists. The `holder` is the private key of the token.
 *
 * @param directory settings for the signed directory. If the token is not bound to the environment that you use, set
 *   `name` to the name of this environment.
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

/** The data with which a token is registered on the server. None of this data is secret. */
export interface TokenRegistration {
  /** The id of the token. */
  tokenId: string
  /** The SHA-256 hash of the bearer, base64url. */
  tokenHash: string
  /** The public key of the token, a JWK as a JSON string. */
  publicKeyJwk: string
}

/**
 * Computes the data with which a token is registered on the server, from the text of the token. The token may contain a
 * pin. The function sends no request.
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
 * Registers a token again after its organization was restored from an archive. You must do this because an archive
 * contains no hashes of tokens, so the server does not accept the token after the restore. The name, the role and the
 * environment of the token stay the same.
 *
 * @throws SkerryError `not_found` if the organization has no such token; RefusedError `conflict` if the token is
 *   already registered, or had another public key before, `forbidden`; UnavailableError.
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
 * Makes the first admin token of an organization. Use this function in a program that has only the client id and the
 * client secret of a machine client. A machine client has no key pair, so it cannot create an environment. With the
 * admin token, the program can create environments.
 *
 * @param machine a client whose credential is `{ clientId, clientSecret }`.
 * @param settings.orgId the id of the organization. Default: the organization of the machine client.
 * @throws SkerryError `not_found` if the machine client belongs to no organization, or to several; the errors of
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
 * Makes a decoy on this machine, and registers it on the server. A decoy looks exactly like a service token, but never
 * works. If somebody uses the decoy, the server tells the admins. Put the text (`token` in the result) where a thief
 * would look for tokens. Neither the SDK nor the server stores the text.
 *
 * The server gets the id of the decoy and the hash of its bearer. If somebody uses the decoy, the server recognises the
 * decoy by the id or by the hash.
 *
 * @param settings.placement a note for the admins that says where you put the decoy.
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

import { hostname } from 'node:os'
import { isNamed } from '@skerry/contract/prefixes'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { type ParsedToken, parseToken } from '@skerry/crypto/token'
import type { KeyHolder } from '@skerry/crypto/wrap'
import type { Reader } from '@skerry/sdk'
import { type Client, type Credential, createClient } from '@skerry/sdk/client'
import { signingWhenSigned } from '@skerry/sdk/internal/directory/when-signed'
import type { KnownState } from '@skerry/sdk/known-state'
import type { RememberingHolder } from '@skerry/sdk/secrets'
import manifest from '../package.json' with { type: 'json' }
import { keptAside, type Profile, readCredentials, saveProfile } from './credentials.ts'
import { Failure } from './failure.ts'
import { fetchOverHttp } from './http.ts'
import { recall, remember } from './id-cache.ts'
import { knowsDirectories, mustVerifyIn, openSigningOf } from './known-directories.ts'
import { knownStateHere, type Look } from './known-state.ts'
import { orNearest } from './nearest.ts'
import { note, warn } from './output.ts'
import { bearerOf, isPersonBearer, personOf } from './person.ts'
import { type Flags, readSettings, refuseHalfClient, type Settings } from './settings.ts'
import { noteUsedCredential, originOfServer } from './used-credential.ts'

/** The person or token that a credential belongs to. `name` is for people: an e-mail address, or the id. */
interface Principal {
  type: 'service_token' | 'user'
  id: string
  name: string
}

/** A signed-in command: its settings, its principal, and the private key that opens keys wrapped to the principal. */
export interface Session {
  settings: Settings
  /** Signs the changes that it sends, if the organization has a signed directory and the caller is one of its signers. */
  client: Client
  principal: Principal
  /**
   * Opens the private key. A token's key is derived from the token. A person's key is in their keyring, and opening it
   * may ask for the passphrase. The returned holder remembers the keys of environments.
   */
  key: () => Promise<RememberingHolder>
  /** The key that signs the directory, derived from the private key; null for a classic token, which never signs. */
  signer: () => Promise<DirectorySigner | null>
  /** The credential of this session in the form that the SDK takes. */
  reader: () => Promise<Reader>
  /**
   * The known state of this machine. Both refuse an answer that contradicts it. With SKERRY_TOKEN, `reading` only warns
   * of most contradictions (see `knownStateHere`).
   */
  knownState: Record<'writing' | 'reading', KnownState>
  /** The pin that the token carries, and the environment that it names. */
  pinned?: { pin: string; environment: string | null }
  /** Requested once, at the first use, because a token that is bound to an environment can resolve without it. */
  org: () => Promise<Org>
  /** Returns this session in one of the organizations of a person. */
  withOrg: (slug: string) => Session
  /** Returns this session with another way to compare the known state. */
  looking: (look: Look) => Session
}

/** The parts of a session that do not depend on how it compares the known state. */
interface Parts extends Pick<Session, 'settings' | 'client' | 'principal' | 'reader' | 'pinned' | 'signer'> {
  holder: () => Promise<KeyHolder>
  /** The organization that the credential was stored with. */
  known: Org | undefined
}

export type Org = { id: string; slug: string }

export const userAgent = `skerry-cli/${manifest.version}`

export function connect(settings: Pick<Settings, 'url' | 'allowInsecure'>, credential?: Credential): Client {
  const { url: baseUrl, allowInsecure } = settings
  return createClient({
    baseUrl,
    allowInsecure,
    userAgent,
    fetch: fetchOverHttp,
    ...(credential ? { credential } : {}),
  })
}

let opened: Session | undefined

/** The session of this command, for the words of an error; undefined if the command failed before it. */
export const openedSession = (): Session | undefined => opened

export async function openSession(flags: Flags): Promise<Session> {
  refuseHalfClient(flags)
  const settings = readSettings(flags)
  const { bearer, profile } = await findBearer(settings)
  opened = await (isPersonBearer(bearer) ? personSession : tokenSession)(settings, bearer, profile)
  return opened
}

async function tokenSession(settings: Settings, token: string, profile: Profile | undefined): Promise<Session> {
  const isFromVariable = settings.credential.from === 'environment'
  const { bearer, tokenId, privateKey, format, pinned } = await openToken(token).catch((error) => {
    throw isFromVariable ? malformedVariable(error) : error
  })
  noteUsedCredential({ tokenId, isFromVariable })
  const client = connect(settings, { bearer })
  const principal = { type: 'service_token', id: tokenId, name: tokenId } as const
  const reader = async () => ({ token })
  const signer = async () => {
    if (format === 'classic') return null
    const { signerOfToken } = await import('@skerry/crypto/directory/signing')
    return signerOfToken(token.split('.', 1)[0] as string)
  }
  const holder = async () => privateKey
  const parts = { settings, client, principal, reader, signer, holder, known: profile?.org }
  return assemble({ ...parts, ...(pinned ? { pinned } : {}) })
}

/** Parses a service token. One that carries a pin has a dot, and only the part before the dot is the token itself. */
export async function openToken(token: string): Promise<ParsedToken & Pick<Session, 'pinned'>> {
  if (!token.includes('.')) return parseToken(token)
  const [{ parsePinnedToken }, { formatPin }] = await Promise.all([
    import('@skerry/crypto/directory/pinned-token'),
    import('@skerry/crypto/directory/pin'),
  ])
  const { pin, environment, ...parsed } = await parsePinnedToken(token)
  return { ...parsed, pinned: { pin: formatPin(pin), environment } }
}

/** Names the variable instead of the text in it, which may be a part of a token. */
const malformedVariable = (error: Error): Failure =>
  new Failure(
    'refused',
    error.message
      .replace(/^the text is not a pin of a root/, 'the pin in SKERRY_TOKEN is malformed')
      .replace(/^the text/, 'SKERRY_TOKEN'),
    'check that the variable has all of the token, skt_<22 characters>_<key>',
  )

async function personSession(settings: Settings, bearer: string, profile: Profile | undefined): Promise<Session> {
  noteUsedCredential({ tokenId: undefined, isFromVariable: settings.credential.from === 'environment' })
  const client = connect(settings, { bearer })
  const { id, email } = await personOf(settings, client, bearer, profile?.session)
  const principal = { type: 'user', id, name: email ?? id } as const
  const keys = once(async () => {
    const { openPersonKeys } = await import('./keyring/person-keys.ts')
    return openPersonKeys({ client, url: settings.url, userId: id }, { signs: knowsDirectories(settings) })
  })
  const holder = async () => (await keys()).holder()
  const signer = async () => (await keys()).signer()
  const reader = async () => ({ bearer, privateKey: await holder() })
  return assemble({ settings, client, principal, reader, signer, holder, known: undefined })
}

function assemble(parts: Parts, look?: Look): Session {
  const { settings, client, principal, reader, signer, holder, known } = parts
  const knownState = knownStateHere(settings, principal, look)
  const session: Session = {
    settings,
    client: signingWhenSigned(
      client,
      (orgId) => mustVerifyIn(session, orgId),
      () => openSigningOf(client, session),
    ),
    principal,
    reader,
    signer: once(signer),
    knownState,
    ...(parts.pinned ? { pinned: parts.pinned } : {}),
    key: async () => ({ ...(await holder()), knownState: knownState.writing }),
    org: once(async () =>
      known ? checkOrg(known, settings) : findOrg(client, settings, principal, knownState.writing),
    ),
    withOrg: (slug) => assemble({ ...parts, settings: { ...settings, org: slug } }, look),
    looking: (other) => assemble(parts, other),
  }
  return session
}

/** The public key of the signed-in principal, derived from its private key: the server is not trusted to name it. */
export const ownPublicKey = async (session: Session): Promise<string> => publicKeyJwkOf(await session.key())

/** The person whose overrides the SDK uses. Undefined for a token, which has none. */
export const ownOverrides = async ({ principal, org }: Session) =>
  principal.type === 'user' ? { orgId: (await org()).id, userId: principal.id } : undefined

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () => {
    done ??= work()
    return done
  }
}

/** Finds the credential to use. A machine client that has no service token yet gets one here. */
async function findBearer(settings: Settings): Promise<{ bearer: string; profile?: Profile }> {
  const { credential } = settings
  if (credential.from === 'environment') return { bearer: credential.token }
  if (credential.from === 'profile') {
    const { profile, name } = credential
    checkServer(profile, settings, name)
    if (profile.session) return { bearer: await bearerOf(name, profile.session), profile }
    if (profile.token !== undefined) return { bearer: profile.token, profile }
    if (profile.client?.secret === undefined) throw notSignedIn(settings)
    const client = { id: profile.client.id, secret: profile.client.secret }
    return bearerAnd(await makeAdminToken(settings, { ...client, keepSecret: true }, name))
  }
  if (credential.from === 'machine') {
    const { clientId: id, clientSecret: secret, cached, name } = credential
    if (cached?.token !== undefined) return { bearer: cached.token, profile: cached }
    return bearerAnd(await makeAdminToken(settings, { id, secret, keepSecret: false }, name))
  }
  throw notSignedIn(settings)
}

const bearerAnd = ({ token, profile }: { token: string; profile: Profile }) => ({ bearer: token, profile })

/** The path on a server of the page that says what to do when its address changes. */
const movedPage = '/docs/operations/reverse-proxy/#when-the-address-changes'

function notSignedIn({ url, org }: Settings): Failure {
  const aside = keptAside()
  const kept = aside.length === 0 ? '' : `; other stored profiles: ${aside.join(', ')}`
  const others = [...new Set(Object.values(readCredentials().profiles).map((one) => one.url))].filter(
    (one) => one !== url,
  )
  const elsewhere = others.length === 0 ? '' : `; you have one for ${others.join(', ')}`
  const moved = others.length === 0 ? '' : `. If the server has a new address, read ${url}${movedPage}`
  const origin = originOfServer()
  const isDefault = origin === 'the default'
  const from = origin === undefined || isDefault ? '' : ` (from ${origin})`
  const which = org === undefined ? '' : ` and the organization ${org}`
  return new Failure(
    'refused',
    `${isDefault ? 'no server is set, and ' : ''}there is no credential for ${url}${from}${which}${elsewhere}${kept}`,
    isDefault
      ? 'name your server once: `skerry login --url https://skerry.example.com`, or `skerry signup <name> --url …` for a new organization. A script sets SKERRY_URL and SKERRY_TOKEN'
      : `run \`skerry login\`, set SKERRY_TOKEN, or create an organization with \`skerry signup <name>\`${moved}`,
  )
}

/** A stored credential is sent only to the server that it was made for, whatever the project's file says. */
function checkServer(profile: Profile, settings: Settings, name: string): void {
  if (profile.url === settings.url) return
  throw new Failure(
    'refused',
    `profile ${name} belongs to ${profile.url}, not to ${settings.url}`,
    'name another profile',
  )
}

/** Makes a service token with a machine client. The client has no key, so the token does all other work. */
export async function makeAdminToken(
  settings: Settings,
  machine: { id: string; secret: string; keepSecret: boolean },
  name: string,
): Promise<{ token: string; profile: Profile }> {
  const client = connect(settings, { clientId: machine.id, clientSecret: machine.secret })
  const { orgs } = await client.me.get()
  const org = orgs.find((one) => isOrg(one, settings.org))
  if (!org) throw new Failure('notFound', `machine client ${machine.id} is not in organization ${settings.org ?? ''}`)
  const { bootstrapAdmin } = await import('@skerry/sdk/tokens')
  const tokenName = `CLI on ${hostname()}`.slice(0, 200)
  const { token, parsed } = await bootstrapAdmin(client, { orgId: org.id, name: tokenName })
  const profile: Profile = {
    url: settings.url,
    org: { id: org.id, slug: org.slug },
    client: { id: machine.id, ...(machine.keepSecret ? { secret: machine.secret } : {}) },
    token,
    tokenName,
  }
  try {
    saveProfile(name, profile, machine.keepSecret)
    note(
      `created the admin token "${tokenName}" (${parsed.tokenId}) for ${org.slug}; it is stored in the credentials file`,
    )
  } catch (error) {
    warn(`the new admin token cannot be stored, so every command will create another: ${(error as Error).message}`)
  }
  return { token, profile }
}

/**
 * Finds the organization that a credential works in. A person in several organizations must name one. The result is
 * compared with the known state even if it was cached. Names are remembered per organization, so in another one all
 * names are new.
 */
async function findOrg(client: Client, settings: Settings, principal: Principal, knownState: KnownState): Promise<Org> {
  const org = await lookUpOrg(client, settings, principal)
  const name = principal.type === 'user' ? (settings.org ?? '') : ''
  await knownState.check({ meanings: { organization: { name, id: org.id } } })
  return checkOrg(org, settings)
}

async function lookUpOrg(client: Client, settings: Settings, { type, id }: Principal): Promise<Org> {
  const isPerson = type === 'user'
  const key = `org ${settings.url} ${id}${isPerson ? ` ${settings.org ?? ''}` : ''}`
  const known = recall(key)?.split(' ')
  if (known?.[0] && known[1]) return { id: known[0], slug: known[1] }
  const { orgs } = await client.me.get()
  const org = isPerson ? choose(orgs, settings.org) : orgs[0]
  if (!org) throw new Failure('notFound', 'this credential belongs to no organization')
  remember(key, `${org.id} ${org.slug}`)
  return { id: org.id, slug: org.slug }
}

/** Without a wanted name, every organization matches. */
const isOrg = ({ id, slug: name }: Org, wanted: string | undefined) =>
  wanted === undefined || isNamed(wanted, 'organization', { id, name })

function choose<O extends Org>(orgs: O[], wanted: string | undefined): O {
  const found = orgs.filter((org) => isOrg(org, wanted))
  if (found.length === 1) return found[0]!
  if (orgs.length === 0) {
    const next = 'see `skerry invite mine` for invitations, or run `skerry org create <name>`'
    throw new Failure('notFound', 'you are in no organization', next)
  }
  const slugs = orgs.map((org) => org.slug).join(', ')
  if (found.length === 0) {
    const invited = `see \`skerry invite mine\`, or ask an admin of ${wanted} to invite you; you are in: ${slugs}`
    const next = orNearest(
      wanted ?? '',
      orgs.map((org) => org.slug),
      invited,
    )
    throw new Failure('notFound', `you are not in organization ${wanted}`, next)
  }
  throw new Failure('usage', `which organization is not said (${slugs})`, 'use --org, SKERRY_ORG, or `skerry setup`')
}

/** Refuses a credential of another organization than the one that the command or the project names. */
export function checkOrg(org: Org, wanted: { org?: string | undefined }): Org {
  if (isOrg(org, wanted.org)) return org
  throw new Failure(
    'refused',
    `this credential belongs to organization ${org.slug}, not to ${wanted.org}`,
    'change --org, SKERRY_ORG or skerry.json, or use another credential',
  )
}

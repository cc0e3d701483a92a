import { hostname } from 'node:os'
import { type ParsedToken, parseToken } from '@skerry/crypto/token'
import { type Client, type Credential, createClient } from '@skerry/sdk/client'
import { bootstrapAdmin } from '@skerry/sdk/tokens'
import manifest from '../package.json' with { type: 'json' }
import { type Profile, saveProfile } from './credentials.ts'
import { Failure } from './failure.ts'
import { note, warn } from './output.ts'
import { recall, remember } from './remembered.ts'
import { type Flags, readSettings, type Settings } from './settings.ts'

/** A signed-in command: where it works, as whom, and the key that never leaves this process. */
export interface Session {
  settings: Settings
  client: Client
  /** The whole token: it holds key material and goes nowhere but into the SDK. */
  token: string
  parsed: ParsedToken
  /** Asked for once, at the first use: a token that is bound to an environment can resolve without it. */
  org: () => Promise<{ id: string; slug: string }>
}

export const userAgent = `skerry-cli/${manifest.version}`

export function connect(settings: Pick<Settings, 'url' | 'allowInsecure'>, credential?: Credential): Client {
  const { url: baseUrl, allowInsecure } = settings
  return createClient({ baseUrl, allowInsecure, userAgent, ...(credential ? { credential } : {}) })
}

export async function openSession(flags: Flags): Promise<Session> {
  const settings = readSettings(flags)
  const { token, profile } = await findToken(settings)
  const parsed = await parseToken(token)
  const client = connect(settings, { bearer: parsed.bearer })
  let org: Promise<Profile['org']> | undefined
  return {
    settings,
    client,
    token,
    parsed,
    org: () => {
      org ??= profile ? checkOrg(profile.org, settings) : findOrg(client, settings, parsed.tokenId)
      return org
    },
  }
}

/** The token to work with. A machine client that has none yet is given its own, made here. */
async function findToken(settings: Settings): Promise<{ token: string; profile?: Profile }> {
  const { credential } = settings
  if (credential.from === 'environment') return { token: credential.token }
  if (credential.from === 'profile') {
    const { profile, name } = credential
    checkServer(profile, settings, name)
    if (profile.token !== undefined) return { token: profile.token, profile }
    if (profile.client?.secret === undefined) throw notSignedIn()
    const client = { id: profile.client.id, secret: profile.client.secret }
    return makeAdminToken(settings, { ...client, keepSecret: true }, name)
  }
  if (credential.from === 'machine') {
    const { clientId: id, clientSecret: secret, cached, name } = credential
    if (cached?.token !== undefined) return { token: cached.token, profile: cached }
    return makeAdminToken(settings, { id, secret, keepSecret: false }, name)
  }
  throw notSignedIn()
}

const notSignedIn = () =>
  new Failure(
    'refused',
    'there is no credential for this server and organization',
    'set SKERRY_TOKEN, or run `skerry signup <name>`, `skerry login --client-id <id>` or `skerry login --token`',
  )

/** A stored credential goes to the server that it was made for and to no other, whatever a project's file says. */
function checkServer(profile: Profile, settings: Settings, name: string): void {
  if (profile.url === settings.url) return
  throw new Failure(
    'refused',
    `profile ${name} belongs to ${profile.url}, not to ${settings.url}`,
    'name another profile',
  )
}

/** The machine client makes the service token that does the rest, because it holds no key itself. */
export async function makeAdminToken(
  settings: Settings,
  machine: { id: string; secret: string; keepSecret: boolean },
  name: string,
): Promise<{ token: string; profile: Profile }> {
  const client = connect(settings, { clientId: machine.id, clientSecret: machine.secret })
  const { orgs } = await client.me.get()
  const org = orgs.find((one) => settings.org === undefined || one.slug === settings.org || one.id === settings.org)
  if (!org) throw new Failure('notFound', `machine client ${machine.id} is not in organization ${settings.org ?? ''}`)
  const { token, parsed } = await bootstrapAdmin(client, { orgId: org.id, name: `CLI on ${hostname()}`.slice(0, 200) })
  const profile: Profile = {
    url: settings.url,
    org: { id: org.id, slug: org.slug },
    client: { id: machine.id, ...(machine.keepSecret ? { secret: machine.secret } : {}) },
    token,
  }
  try {
    saveProfile(name, profile, machine.keepSecret)
    note(`made admin token ${parsed.tokenId} for ${org.slug}; it is kept in the credentials file`)
  } catch (error) {
    warn(`the new admin token cannot be kept, so every command will make another: ${(error as Error).message}`)
  }
  return { token, profile }
}

async function findOrg(client: Client, settings: Settings, tokenId: string): Promise<Profile['org']> {
  const key = `org ${settings.url} ${tokenId}`
  const known = recall(key)?.split(' ')
  if (known?.[0] && known[1]) return checkOrg({ id: known[0], slug: known[1] }, settings)
  const { orgs } = await client.me.get()
  const org = orgs[0]
  if (!org) throw new Failure('notFound', 'this credential belongs to no organization')
  remember(key, `${org.id} ${org.slug}`)
  return checkOrg({ id: org.id, slug: org.slug }, settings)
}

async function checkOrg(org: Profile['org'], settings: Settings): Promise<Profile['org']> {
  if (settings.org === undefined || settings.org === org.slug || settings.org === org.id) return org
  throw new Failure(
    'refused',
    `this credential belongs to organization ${org.slug}, not to ${settings.org}`,
    'change --org, SKERRY_ORG or skerry.json, or use another credential',
  )
}

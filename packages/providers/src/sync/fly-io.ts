import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { type Api, call } from './call.ts'
import type { SyncConnection, SyncEntry, SyncFacts, SyncPlace, SyncSession } from './provider.ts'
import { done, inHalves } from './pushing.ts'

// Fly.io apps, through the Machines API (https://docs.machines.dev). One call writes and removes any number of names
// and creates one version. Machines use that version after their next update.

const ORIGIN = 'https://api.machines.dev'

export function describe({ destination }: SyncPlace<'app-platform-c'>): SyncFacts {
  return {
    places: [`app/${destination.appName}`],
    limits: {
      name: {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        words: 'letters, digits and underscores, not beginning with a digit',
        reserved: [],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: null,
      // Fly.io allows one action of a kind per second and app.
      pushIntervalMs: 1000,
    },
    effects: [
      'Fly.io stages the values. Running Machines use the old values until `fly secrets deploy` or the next deployment.',
    ],
  }
}

export function open(connection: SyncConnection<'app-platform-c'>, outbound: Outbound): SyncSession {
  const { credential, destination } = connection
  const url = `${outbound.origin('app-platform-c', ORIGIN)}/v1/apps/${destination.appName}/secrets`
  const api: Api = { outbound, credential, headers: { authorization: authorizationOf(credential) }, readErrorText }
  let version: number | undefined

  async function list(): Promise<SyncEntry[]> {
    // Fly.io may answer from a replica. `min_version` makes it answer with our last write or something newer.
    const query = version === undefined ? '' : `?min_version=${version}`
    const { body } = await call(api, { method: 'GET', url: url + query })
    return readSecrets(body).map(({ name, digest }) => ({ name, revision: digest }))
  }

  return {
    async verify() {
      await list()
      return { notes: [] }
    },
    list,
    async push(changes) {
      return await inHalves(changes, async (part) => {
        const values = Object.fromEntries([
          ...part.write.map(({ name, value }) => [name, value]),
          ...part.remove.map(({ name }) => [name, null]),
        ])
        const sent = part.write.map(({ value }) => value)
        const { body } = await call(api, { method: 'POST', url, json: { values } }, sent)
        version = readVersion(body)
        const digests = new Map(readSecrets(body).map(({ name, digest }) => [name, digest]))
        return done(part, ({ name }) => digests.get(name) ?? null)
      })
    },
  }
}

/**
 * Macaroons (`fm1r_`, `fm1a_`, `fm2_`) have a scheme of their own, as in the vendor’s Go client. All other tokens are
 * bearer tokens. `fly tokens create` prints the scheme as well.
 */
function authorizationOf(credential: string): string {
  const token = credential.trim().replace(/^(?:FlyV1|Bearer)\s+/i, '')
  if (!/^[\u0021-\u007e]+$/.test(token))
    throw new ProviderError('invalid', 'the access token contains spaces or control characters')
  return /^fm(?:1r|1a|2)_/.test(token) ? `FlyV1 ${token}` : `Bearer ${token}`
}

function readSecrets(body: unknown): { name: string; digest: string | null }[] {
  const secrets = (body as { secrets?: unknown } | undefined)?.secrets
  if (!Array.isArray(secrets)) throw new ProviderError('failed', 'the answer contains no list of secrets')
  return secrets.map(({ name, digest }) => ({ name: String(name), digest: typeof digest === 'string' ? digest : null }))
}

/** `Version` is the deprecated name of `version`. */
function readVersion(body: unknown): number | undefined {
  const { version, Version } = body as { version?: unknown; Version?: unknown }
  return [version, Version].find((value) => typeof value === 'number') as number | undefined
}

function readErrorText(body: unknown): string | null {
  const error = (body as { error?: unknown } | undefined)?.error
  return typeof error === 'string' ? error : null
}

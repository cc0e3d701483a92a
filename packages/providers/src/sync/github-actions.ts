import { type JsonAnswer, type JsonRequest, retryAfterMs, sendJson, statusFailure } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { errorTextOf, ProviderError } from '../provider-error.ts'
import { headerCredential, rootOf } from './checks.ts'
import { oneByOne, withRevisions } from './one-by-one.ts'
import type { SyncChanges, SyncConnection, SyncEntry, SyncFacts, SyncPlace, SyncSession } from './provider.ts'

// GitHub Actions secrets of a repository, one of its environments, or an organization
// (https://docs.github.com/rest/actions/secrets). Each of these has its own public key, and values must be encrypted
// with it. GitHub accepts a value that was encrypted with another key, and stores nonsense.

const ROOT = 'https://api.github.com'
const perPage = 100
const pagesMax = 20
/** The pause that GitHub asks for after a rate limit that names no time. */
const limitPauseMs = 60_000

type Place = SyncPlace<'code-host-ci'>

export function describe(place: Place): SyncFacts {
  const { config, destination } = place
  return {
    places: [`${rootOf(config.baseUrl ?? ROOT)}${pathOf(destination)}`.toLowerCase()],
    ...(destination.kind === 'org' ? { rules: JSON.stringify(readersOf(destination)) } : {}),
    limits: {
      name: {
        pattern: '^[A-Z_][A-Z0-9_]*$',
        words: 'letters, digits and underscores, not beginning with a digit',
        reserved: ['GITHUB_*'],
        form: 'upper',
        prefix: '',
      },
      valueBytesMax: 48 * 1024,
      emptyValues: true,
      totalBytesMax: null,
      // GitHub allows 80 requests a minute that create content.
      pushNamesMax: 20,
      pushIntervalMs: 15_000,
    },
    effects: [
      destination.kind === 'environment'
        ? 'Jobs that start after the push use the new values. Running jobs keep the old values.'
        : 'Workflow runs that are queued after the push use the new values. Earlier runs keep the old values.',
    ],
  }
}

export function open(connection: SyncConnection<'code-host-ci'>, outbound: Outbound): SyncSession {
  const { config, destination } = connection
  const token = headerCredential(connection.credential)
  const { origin, pathname } = new URL(config.baseUrl ?? ROOT)
  const url = `${outbound.origin('code-host-ci', origin)}${pathname.replace(/\/$/, '')}${pathOf(destination)}`
  let sealing: SealingKey | undefined

  async function call(request: Omit<JsonRequest, 'headers'>, value = ''): Promise<JsonAnswer> {
    const answer = await sendJson(outbound, {
      ...request,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'user-agent': 'skerry',
        'x-github-api-version': '2022-11-28',
      },
    })
    const failure = statusFailure(answer, outbound.now(), readErrorText(answer, [token, value]))
    if (!failure) return answer
    const pause = limitPause(answer, outbound.now())
    throw pause === null ? failure : new ProviderError('rate_limited', failure.message, pause)
  }

  async function list(): Promise<SyncEntry[]> {
    const found: SyncEntry[] = []
    for (let page = 1; page <= pagesMax; page++) {
      const { body } = await call({ method: 'GET', url: `${url}?per_page=${perPage}&page=${page}` })
      const secrets = (body as { secrets?: unknown } | undefined)?.secrets
      if (!Array.isArray(secrets)) throw new ProviderError('failed', 'the answer contains no list of secrets')
      for (const { name, updated_at } of secrets)
        found.push({ name: String(name).toUpperCase(), revision: typeof updated_at === 'string' ? updated_at : null })
      if (secrets.length < perPage) return found
    }
    throw new ProviderError('failed', 'the list of secrets is too long')
  }

  async function put(name: string, value: string): Promise<void> {
    sealing ??= readKey(await call({ method: 'GET', url: `${url}/public-key` }))
    const { keyId, key } = sealing
    const json = { encrypted_value: await sealed(value, key), key_id: keyId, ...readersOf(destination) }
    await call({ method: 'PUT', url: `${url}/${encodeURIComponent(name)}`, json }, value)
  }

  return {
    async verify() {
      await call({ method: 'GET', url: `${url}?per_page=1` })
      return { notes: [] }
    },
    list,
    async push(changes: SyncChanges) {
      const outcome = await oneByOne(changes, {
        async write({ name, value }) {
          await put(name, value).catch(async (error: unknown) => {
            if (!(error instanceof ProviderError && error.message.startsWith('HTTP 422'))) throw error
            // GitHub changes its keys. It refuses a value that was encrypted with the previous one.
            sealing = undefined
            await put(name, value)
          })
          return { revision: null, memo: null }
        },
        async remove({ name }) {
          await call({ method: 'DELETE', url: `${url}/${encodeURIComponent(name)}` }).catch((error: unknown) => {
            if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
          })
        },
      })
      return await withRevisions(outcome, list)
    },
  }
}

function pathOf(destination: Place['destination']): string {
  if (destination.kind === 'org') return `/orgs/${destination.org}/actions/secrets`
  const repo = `/repos/${destination.owner}/${destination.repo}`
  return destination.kind === 'repo'
    ? `${repo}/actions/secrets`
    : `${repo}/environments/${encodeURIComponent(destination.environment)}/secrets`
}

function readersOf(destination: Place['destination']): object {
  if (destination.kind !== 'org') return {}
  const { visibility, selectedRepositoryIds } = destination
  return selectedRepositoryIds === undefined
    ? { visibility }
    : { visibility, selected_repository_ids: selectedRepositoryIds }
}

interface SealingKey {
  keyId: string
  key: Uint8Array
}

function readKey({ body }: JsonAnswer): SealingKey {
  const { key_id, key } = (body ?? {}) as { key_id?: unknown; key?: unknown }
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : undefined
  if (typeof key_id !== 'string' || bytes?.length !== 32)
    throw new ProviderError('failed', 'the answer contains no public key')
  return { keyId: key_id, key: new Uint8Array(bytes) }
}

async function sealed(value: string, key: Uint8Array): Promise<string> {
  const { default: sodium } = await import('libsodium-wrappers')
  await sodium.ready
  return Buffer.from(sodium.crypto_box_seal(Buffer.from(value, 'utf8'), key)).toString('base64')
}

/** GitHub also reports rate limits with 403. Only the headers then distinguish a limit from a missing permission. */
function limitPause({ status, headers }: JsonAnswer, now: Date): number | null {
  if (status !== 403 && status !== 429) return null
  const after = retryAfterMs(headers, now)
  if (after !== undefined) return after
  const reset = Number(headers['x-ratelimit-reset'])
  if (headers['x-ratelimit-remaining'] === '0' && reset > 0) return Math.max(1000, reset * 1000 - now.getTime())
  return status === 429 ? limitPauseMs : null
}

function readErrorText({ status, body }: JsonAnswer, secrets: readonly string[]): string | null {
  if (status >= 300 && status < 400) return 'it was renamed or moved'
  const message = (body as { message?: unknown } | undefined)?.message
  return typeof message === 'string' ? errorTextOf(message, secrets) : null
}

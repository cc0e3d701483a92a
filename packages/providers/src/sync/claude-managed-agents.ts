import { type JsonAnswer, type JsonRequest, sendJson, statusFailure } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { errorTextOf, ProviderError } from '../provider-error.ts'
import { headerCredential } from './checks.ts'
import { madeMeanwhile, oneByOne } from './one-by-one.ts'
import type { SyncChanges, SyncConnection, SyncEntry, SyncFacts, SyncPlace, SyncSession } from './provider.ts'

// Environment variables in vaults of Claude Managed Agents (https://platform.claude.com/docs). Agents see a
// placeholder. The value is inserted into requests to hosts that the credential allows.

const ORIGIN = 'https://api.anthropic.com'
/** The limit for credentials of all types together. */
const credentialsMax = 20
const pagesMax = 100

type Destination = SyncPlace<'ai-agent-vaults'>['destination']

export function describe(place: SyncPlace<'ai-agent-vaults'>): SyncFacts {
  const { destination } = place
  const { vaultId, allowedHosts, allowedHostsByName, injectionLocation = 'header' } = destination
  return {
    places: [`vault/${vaultId}`],
    rules: JSON.stringify({ allowedHosts, allowedHostsByName, injectionLocation }),
    limits: {
      name: {
        pattern: '^[A-Za-z_][A-Za-z0-9_]{0,254}$',
        words: 'letters, digits and underscores, not beginning with a digit, at most 255 characters',
        reserved: [],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: credentialsMax,
      pushIntervalMs: 5000,
    },
    effects: ['Agent sessions that use the vault send the new values to the allowed hosts.'],
  }
}

export function open(connection: SyncConnection<'ai-agent-vaults'>, outbound: Outbound): SyncSession {
  const vault = openVault(connection, outbound)
  return {
    async verify() {
      const { body } = await vault.call({ method: 'GET', url: vault.url })
      if ((body as { archived_at?: unknown } | undefined)?.archived_at != null)
        throw new ProviderError('missing', 'the vault is archived')
      const free = credentialsMax - (await vault.list()).length
      return { notes: [`The vault has room for ${Math.max(0, free)} more credentials.`] }
    },
    list: async () => (await vault.list()).flatMap(entryOf),
    push: (changes) => push(vault, connection.destination, changes),
  }
}

type Vault = ReturnType<typeof openVault>

function openVault({ destination, credential }: SyncConnection<'ai-agent-vaults'>, outbound: Outbound) {
  const key = headerCredential(credential)
  const url = `${outbound.origin('ai-agent-vaults', ORIGIN)}/v1/vaults/${destination.vaultId}`
  const credentialsUrl = `${url}/credentials`

  async function call(request: Omit<JsonRequest, 'headers'>, value = ''): Promise<JsonAnswer> {
    const answer = await sendJson(outbound, {
      ...request,
      headers: {
        'x-api-key': key,
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'managed-agents-2026-04-01',
      },
    })
    const failure = statusFailure(answer, outbound.now(), readErrorText(answer.body, [key, value]))
    if (failure && answer.status === 409) throw new ProviderError('exists', failure.message)
    if (failure) throw failure
    return answer
  }

  /** Lists the credentials that count towards the limit, also those of other types. */
  async function list(): Promise<Credential[]> {
    const found: Credential[] = []
    let page = ''
    for (let pages = 0; pages < pagesMax; pages++) {
      const { body } = await call({ method: 'GET', url: `${credentialsUrl}?limit=100${page}` })
      if (typeof body !== 'object' || body === null) throw new ProviderError('failed', 'the answer contains no list')
      // The answer may omit an empty list.
      const { data = [], next_page } = body as { data?: unknown; next_page?: unknown }
      if (!Array.isArray(data)) throw new ProviderError('failed', 'the answer contains no list of credentials')
      found.push(...data.map(readCredential).filter(({ archived }) => !archived))
      if (typeof next_page !== 'string') return found
      page = `&page=${encodeURIComponent(next_page)}`
    }
    throw new ProviderError('failed', 'the list of credentials is too long')
  }

  return { url, credentialsUrl, call, list }
}

async function push({ credentialsUrl: url, call, list }: Vault, destination: Destination, changes: SyncChanges) {
  let there = await list()
  const idOf = (name: string) => there.find((each) => each.name === name)?.id

  async function write(name: string, value: string): Promise<Credential> {
    const rules = rulesOf(destination, name)
    const id = idOf(name)
    if (id === undefined && there.length >= credentialsMax)
      throw new ProviderError(
        'invalid',
        `the vault already has ${there.length} credentials, and can have at most ${credentialsMax}`,
      )
    const auth = { type: 'environment_variable', secret_value: value, ...rules }
    const { body } = await (id === undefined
      ? call({ method: 'POST', url, json: { auth: { ...auth, secret_name: name }, metadata: ours } }, value)
      : call({ method: 'POST', url: `${url}/${id}`, json: { auth } }, value))
    const credential = readCredential(body)
    if (id === undefined) there.push(credential)
    return credential
  }

  return await oneByOne(changes, {
    async write({ name, value, isNew }) {
      if (isNew && idOf(name) !== undefined) throw madeMeanwhile()
      const { revision } = await write(name, value).catch(async (error: unknown) => {
        const reason = error instanceof ProviderError ? error.reason : undefined
        // Either the answer to our write was lost and the name is ours, or somebody removed the name after the list was
        // read.
        if (reason !== 'missing' && (reason !== 'exists' || isNew)) throw error
        there = await list()
        return await write(name, value)
      })
      return { revision, memo: null }
    },
    async remove({ name }) {
      const id = idOf(name)
      if (id === undefined) return
      await call({ method: 'DELETE', url: `${url}/${id}` }).catch((error: unknown) => {
        if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
      })
    },
  })
}

/** Shows people where a credential comes from. */
const ours = { managed_by: 'skerry' }

/**
 * Both injection locations are always sent. A creation without them allows both, and an update without them keeps the
 * old ones.
 */
function rulesOf({ allowedHosts, allowedHostsByName = {}, injectionLocation = 'header' }: Destination, name: string) {
  const hosts = Object.hasOwn(allowedHostsByName, name) ? allowedHostsByName[name] : allowedHosts
  if (hosts === undefined)
    throw new ProviderError('invalid', 'neither allowedHosts nor allowedHostsByName has hosts for this name')
  const anywhere = hosts === 'unrestricted' || hosts[0] === 'unrestricted'
  return {
    networking: anywhere ? { type: 'unrestricted' } : { type: 'limited', allowed_hosts: hosts },
    injection_location: { header: injectionLocation !== 'body', body: injectionLocation !== 'header' },
  }
}

interface Credential {
  id: string
  /** The name of an environment variable. Null for other types. */
  name: string | null
  revision: string | null
  archived: boolean
}

function readCredential(body: unknown): Credential {
  const { id, updated_at, archived_at, auth } = (body ?? {}) as {
    id?: unknown
    updated_at?: unknown
    archived_at?: unknown
    auth?: { type?: unknown; secret_name?: unknown }
  }
  if (typeof id !== 'string' || !/^[A-Za-z0-9_]{1,100}$/.test(id))
    throw new ProviderError('failed', 'the answer contains no credential')
  const name = auth?.type === 'environment_variable' ? String(auth.secret_name) : null
  return { id, name, revision: typeof updated_at === 'string' ? updated_at : null, archived: archived_at != null }
}

const entryOf = ({ name, revision }: Credential): SyncEntry[] => (name === null ? [] : [{ name, revision }])

function readErrorText(body: unknown, secrets: readonly string[]): string | null {
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message
  return typeof message === 'string' ? errorTextOf(message, secrets) : null
}

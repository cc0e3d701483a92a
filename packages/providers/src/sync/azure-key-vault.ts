import { type JsonAnswer, type JsonRequest, sendJson, statusFailure } from '../http.ts'
import { type Outbound, OutboundError } from '../outbound.ts'
import { errorTextOf, fromOutbound, ProviderError } from '../provider-error.ts'
import { headerCredential } from './checks.ts'
import { oneByOne } from './one-by-one.ts'
import type { SyncChanges, SyncConnection, SyncEntry, SyncFacts, SyncPlace, SyncSession } from './provider.ts'

// Azure Key Vault secrets (https://learn.microsoft.com/rest/api/keyvault/secrets), by plain HTTP. Skerry needs one form
// and five calls, so it does not use the vendor’s packages.

/** The newest version that all three clouds are known to support. */
const apiVersion = '7.4'
const clouds = {
  public: { login: 'https://login.microsoftonline.com', resource: 'vault.azure.net' },
  usgov: { login: 'https://login.microsoftonline.us', resource: 'vault.usgovcloudapi.net' },
  china: { login: 'https://login.chinacloudapi.cn', resource: 'vault.azure.cn' },
} as const
const pagesMax = 2000
/** About how long a vault needs to finish a deletion or a recovery. */
const settlingMs = 5000

type Place = SyncPlace<'cloud-c-key-vault'>

export function describe(place: Place): SyncFacts {
  const { prefix = '', nameMode = 'dash' } = place.destination
  return {
    places: [`${vaultOf(place)}/prefix/${prefix}`.toLowerCase()],
    keepsDeleted: true,
    limits: {
      name: {
        pattern: '^[0-9A-Za-z-]{1,127}$',
        words: 'letters, digits and hyphens, at most 127 characters with the prefix',
        reserved: [],
        form: nameMode === 'dash' ? 'dashed' : 'exact',
        ignoresCase: true,
        prefix,
      },
      valueBytesMax: 25 * 1024,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: 100,
      // Azure allows 300 creations in ten seconds for the whole vault.
      pushIntervalMs: 5000,
    },
    effects: [
      'Each value that changes becomes a new version of its secret. Applications get the new value when they read the secret again.',
      'You can recover a removed secret in Azure until the vault’s retention period ends.',
    ],
  }
}

export function open(connection: SyncConnection<'cloud-c-key-vault'>, outbound: Outbound): SyncSession {
  const { call, list } = openVault(connection, outbound)
  const { prefix = '' } = connection.destination
  return {
    async verify() {
      await call({ method: 'GET', url: '/secrets?maxresults=1' })
      return { notes: [] }
    },
    async list() {
      const live = await list('/secrets')
      const names = new Set(live.map(({ name }) => name.toLowerCase()))
      const deleted = (await list('/deletedsecrets')).filter(({ name }) => !names.has(name.toLowerCase()))
      return [...live, ...deleted.map((entry) => ({ ...entry, deleted: true as const }))]
    },
    push: (changes: SyncChanges) =>
      oneByOne(changes, {
        async write({ name, value, isNew = false }) {
          return { revision: await put(call, prefix + name, value, isNew), memo: null }
        },
        async remove({ name }) {
          await call({ method: 'DELETE', url: `/secrets/${encodeURIComponent(prefix + name)}` }).catch(
            (error: unknown) => {
              if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
            },
          )
        },
      }),
  }
}

type Vault = ReturnType<typeof openVault>

function openVault(connection: SyncConnection<'cloud-c-key-vault'>, outbound: Outbound) {
  const own = vaultOf(connection)
  const vault = outbound.origin('cloud-c-key-vault', own)
  const { prefix = '' } = connection.destination
  let token: string | undefined

  async function call(request: Pick<JsonRequest, 'method' | 'url' | 'json'>, value = ''): Promise<JsonAnswer> {
    if (token === undefined) token = await signIn(connection, outbound)
    const bearer = token
    const { pathname, searchParams } = new URL(request.url, vault)
    searchParams.set('api-version', apiVersion)
    const url = `${vault}${pathname}?${searchParams}`
    const answer = await sendJson(outbound, { ...request, url, headers: { authorization: `Bearer ${bearer}` } })
    const failure = statusFailure(
      answer,
      outbound.now(),
      readErrorText(answer.body, [bearer, connection.credential, value]),
    )
    if (failure) throw conflictOf(answer, failure)
    return answer
  }

  async function list(path: '/secrets' | '/deletedsecrets'): Promise<SyncEntry[]> {
    const found: SyncEntry[] = []
    let next: string | null = `${path}?maxresults=25`
    for (let pages = 0; next !== null; pages++) {
      if (pages === pagesMax) throw new ProviderError('failed', 'the list of secrets is too long')
      const { body } = await call({ method: 'GET', url: next })
      const { value, nextLink } = (body ?? {}) as { value?: unknown; nextLink?: unknown }
      if (!Array.isArray(value)) throw new ProviderError('failed', 'the answer contains no list of secrets')
      for (const item of value) {
        const name = nameOf(item.id, path)
        if (!name.toLowerCase().startsWith(prefix.toLowerCase())) continue
        const locked = item.managed === true ? { locked: 'The name belongs to a certificate of the vault.' } : {}
        found.push({ name: name.slice(prefix.length), revision: revisionOf(item), ...locked })
      }
      next = typeof nextLink === 'string' && nextLink !== '' ? ownLink(nextLink, path, [own, vault]) : null
    }
    return found
  }

  return { call, list }
}

/**
 * Deleted secrets keep their names reserved. A deleted secret of the caller is recovered with its old value, and then
 * overwritten. A deleted secret of somebody else stays deleted.
 */
async function put(call: Vault['call'], fullName: string, value: string, isNew: boolean): Promise<string | null> {
  const name = encodeURIComponent(fullName)
  const url = `/secrets/${name}`
  const set = async () => revisionOf((await call({ method: 'PUT', url, json: { value } }, value)).body)
  try {
    return await set()
  } catch (error) {
    if (!(error instanceof RecoverableError)) throw error
    if (isNew)
      throw new ProviderError(
        'foreign',
        'a deleted secret that Skerry did not create has this name, so nothing was changed',
      )
    await call({ method: 'POST', url: `/deletedsecrets/${name}/recover` })
  }
  try {
    return await set()
  } catch (error) {
    // If the vault refuses the new value, the secret is deleted again, so that the old value is not left in use. If the
    // write was only too early, the next try writes it.
    const early = error instanceof ProviderError && error.retryAfterMs !== undefined
    if (!early) await call({ method: 'DELETE', url }).catch(() => {})
    throw error
  }
}

const vaultOf = ({ config, destination }: Place) =>
  `https://${destination.vault}.${clouds[config.cloud ?? 'public'].resource}`

/** Fetches a token of the application with its client secret (RFC 6749, section 4.4). */
async function signIn(
  { config, credential }: SyncConnection<'cloud-c-key-vault'>,
  outbound: Outbound,
): Promise<string> {
  const { login, resource } = clouds[config.cloud ?? 'public']
  const secret = headerCredential(credential)
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: config.clientId,
    client_secret: secret,
    scope: `https://${resource}/.default`,
  })
  const answer = await outbound
    .send({
      method: 'POST',
      url: `${outbound.origin('cloud-c-key-vault', login)}/${config.tenantId}/oauth2/v2.0/token`,
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    })
    .catch((error: unknown) => {
      if (error instanceof OutboundError) throw fromOutbound(error)
      throw error
    })
  const body = parsed(answer.body)
  if (answer.status === 200 && typeof body.access_token === 'string') return headerCredential(body.access_token)
  const text = errorTextOf(typeof body.error_description === 'string' ? body.error_description : '', [secret])
  const failure = statusFailure({ ...answer, body }, outbound.now(), `signing in: ${text ?? ''}`)
  // The token endpoint answers 400, not only 401, for a wrong client or secret.
  if (failure?.reason === 'failed') throw new ProviderError('denied', failure.message)
  throw failure ?? new ProviderError('failed', 'the answer contains no access token')
}

function parsed(bytes: Uint8Array): { access_token?: unknown; error_description?: unknown } {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) ?? {}
  } catch {
    return {}
  }
}

/** A deleted secret that can be recovered has this name. */
class RecoverableError extends ProviderError {}

/** Only the inner code says what a conflict is about. */
function conflictOf({ body }: JsonAnswer, failure: ProviderError): ProviderError {
  const code = (body as VaultError | undefined)?.error?.innererror?.code
  if (code === 'ObjectIsDeletedButRecoverable') return new RecoverableError('exists', failure.message)
  if (code === 'ObjectIsBeingDeleted' || code === 'ObjectIsBeingRecovered')
    return new ProviderError('failed', failure.message, settlingMs)
  return failure
}

interface VaultError {
  error?: { code?: unknown; message?: unknown; innererror?: { code?: unknown } }
}

function readErrorText(body: unknown, secrets: readonly string[]): string | null {
  const { code, message, innererror } = (body as VaultError | undefined)?.error ?? {}
  const texts = [innererror?.code ?? code, message].filter((part) => typeof part === 'string')
  return texts.length === 0 ? null : errorTextOf(texts.join(': '), secrets)
}

/** Reads the name from `https://<vault>/secrets/<name>`. A deleted secret has this id too, and a second one. */
function nameOf(id: unknown, path: string): string {
  const [, name] = new RegExp(`(?:/secrets|${path})/([0-9A-Za-z-]{1,127})(?:/|$)`).exec(String(id)) ?? []
  if (name === undefined) throw new ProviderError('failed', 'the id of a secret cannot be read')
  return name
}

function revisionOf(item: unknown): string | null {
  const updated = (item as { attributes?: { updated?: unknown } } | undefined)?.attributes?.updated
  return typeof updated === 'number' ? String(updated) : null
}

/** The next page is given as a full URL. A URL on another host would receive the token, so it is refused. */
function ownLink(link: string, path: string, hosts: readonly string[]): string {
  const url = URL.canParse(link) ? new URL(link) : null
  if (url === null || !hosts.some((host) => new URL(host).host === url.host) || url.pathname !== path)
    throw new ProviderError('failed', 'the next page of the list is at another host')
  return `${url.pathname}${url.search}`
}

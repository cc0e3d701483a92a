import type { SyncConnection } from '../../src/sync/provider.ts'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import type { CloudFake } from './clouds.ts'
import { FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples } from './samples-clouds.ts'

// Built from the OpenAPI document of the vaults. That document is too old for environment variables, so their fields
// come from the vendor’s generated types. Pages of two.

export type Connection = SyncConnection<'ai-agent-vaults'>
export const connection: Connection = cloudSamples['ai-agent-vaults']
const vault = `/v1/vaults/${connection.destination.vaultId}`

interface Auth {
  type: string
  secret_name?: string
  secret_value?: string
  networking?: { type: string; allowed_hosts?: string[] }
  injection_location?: { header?: boolean; body?: boolean }
}

export interface VaultFake extends CloudFake<'ai-agent-vaults'> {
  auth(name: string): Auth | undefined
  /** Adds credentials of another type. */
  crowd(count: number): void
  archive(): void
}

export async function vaultFake(): Promise<VaultFake> {
  const ids = new Map<string, string>()
  const auths = new Map<string, Auth>()
  let others = 0
  let archived: string | null = null
  let made = 0
  const state = new FakeState(() => {
    ids.clear()
    auths.clear()
    others = 0
    archived = null
  })
  const refusal = (status: number, type: string, message: string): FakeAnswer => ({
    status,
    headers: status === 429 ? { 'retry-after': '4' } : {},
    body: { type: 'error', error: { type, message }, request_id: 'req_1' },
  })
  const idOf = (name: string) => {
    if (!ids.has(name)) ids.set(name, `vcrd_${++made}`)
    return ids.get(name) as string
  }
  const credential = (id: string, updated_at: string, auth: Auth) => {
    const { secret_value: _, ...shown } = auth
    const at = { created_at: updated_at, updated_at, archived_at: null }
    return { type: 'vault_credential', id, vault_id: connection.destination.vaultId, metadata: {}, ...at, auth: shown }
  }
  const shownAs = (name: string) =>
    credential(
      idOf(name),
      state.changedAt(name),
      auths.get(name) ?? { type: 'environment_variable', secret_name: name },
    )

  function answer(request: FakeRequest): FakeAnswer {
    const { method, path, query, headers } = request
    if (headers['x-api-key'] !== connection.credential || state.is('credential'))
      return refusal(401, 'authentication_error', 'invalid x-api-key')
    if (headers['anthropic-version'] !== '2023-06-01' || headers['anthropic-beta'] !== 'managed-agents-2026-04-01')
      return refusal(400, 'invalid_request_error', 'version or beta header')
    if (!path.startsWith(vault) || state.is('missing')) return refusal(404, 'not_found_error', 'Vault not found')
    if (method === 'GET' && path === vault)
      return { status: 200, body: { type: 'vault', id: connection.destination.vaultId, archived_at: archived } }
    const [, id] = /^\/credentials(?:\/(vcrd_\w+))?$/.exec(path.slice(vault.length)) ?? []
    return method === 'GET' ? page(query) : write(request, id)
  }

  function page(query: URLSearchParams): FakeAnswer {
    if ([...query.keys()].some((key) => !['limit', 'page', 'include_archived'].includes(key)))
      return refusal(400, 'invalid_request_error', 'unknown query')
    const all = [
      ...Array.from({ length: others }, (_, index) =>
        credential(`vcrd_other${index}`, state.changedAt(''), { type: 'static_bearer' }),
      ),
      ...[...state.values.keys()].map(shownAs),
    ]
    const from = Number(/^page_(\d+)$/.exec(query.get('page') ?? 'page_0')?.[1])
    const next_page = from + 2 < all.length ? `page_${from + 2}` : null
    // Neither field is required. An empty vault may show neither of them.
    return { status: 200, body: all.length === 0 ? {} : { data: all.slice(from, from + 2), next_page } }
  }

  function write(request: FakeRequest, id: string | undefined): FakeAnswer {
    const known = [...ids].find(([name, each]) => each === id && state.values.has(name))?.[0]
    const read =
      request.method === 'DELETE' ? { body: {} } : jsonObject(request, ['auth', 'metadata', 'display_name'], ['auth'])
    if ('problem' in read) return refusal(400, 'invalid_request_error', read.problem)
    const { auth } = read.body as { auth?: Auth }
    const name = known ?? auth?.secret_name
    if (name === undefined || (id !== undefined && known === undefined))
      return refusal(404, 'not_found_error', 'Credential not found')
    const may = state.mayWrite(name)
    if (may === 'too many') return refusal(429, 'rate_limit_error', 'slow down')
    if (may === 'refused')
      return refusal(400, 'invalid_request_error', `bad ${auth?.secret_value} for ${request.headers['x-api-key']}`)
    if (request.method === 'DELETE') {
      state.delete(name)
      auths.delete(name)
      ids.delete(name)
      return { status: 200, body: { id, type: 'vault_credential_deleted' } }
    }
    return store(name, id, auth as Auth)
  }

  function store(name: string, id: string | undefined, auth: Auth): FakeAnswer {
    const fields = ['type', 'secret_value', 'networking', 'injection_location', ...(id ? [] : ['secret_name'])]
    const unknown = Object.keys(auth).find((key) => !fields.includes(key))
    if (unknown || auth.type !== 'environment_variable')
      return refusal(400, 'invalid_request_error', `unknown field ${unknown}`)
    const parts = { networking: ['type', 'allowed_hosts'], injection_location: ['header', 'body'] } as const
    for (const [part, names] of Object.entries(parts))
      if (
        Object.keys(auth[part as keyof typeof parts] ?? {}).some((name) => !(names as readonly string[]).includes(name))
      )
        return refusal(400, 'invalid_request_error', `unknown field in ${part}`)
    const { type, allowed_hosts } = auth.networking ?? {}
    const limited = type === 'limited' && allowed_hosts !== undefined && allowed_hosts.length <= 16
    if (!limited && !(type === 'unrestricted' && allowed_hosts === undefined))
      return refusal(400, 'invalid_request_error', 'networking')
    if (id === undefined && state.values.has(name)) return refusal(409, 'invalid_request_error', 'secret_name is taken')
    if (id === undefined && state.values.size + others >= 20)
      return refusal(400, 'invalid_request_error', 'vault is full')
    const location = { header: true, body: true, ...auth.injection_location }
    if (!location.header && !location.body) return refusal(400, 'invalid_request_error', 'injection_location')
    state.set(name, auth.secret_value as string)
    auths.set(name, { ...auth, secret_name: name, injection_location: location })
    return { status: 200, body: shownAs(name) }
  }

  const server = await httpFake(answer, { refuse: (status, words) => refusal(status, 'invalid_request_error', words) })
  return {
    connection,
    origin: server.origin,
    ...state.controls(),
    auth: (name) => auths.get(name),
    crowd: (count) => {
      others = count
    },
    archive: () => {
      archived = state.changedAt('')
    },
    stop: server.stop,
  }
}

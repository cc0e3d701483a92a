import sodium from 'libsodium-wrappers'
import type { SyncConnection } from '../../src/sync/provider.ts'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import type { CloudFake } from './clouds.ts'
import { empty, FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples } from './samples-clouds.ts'

// Built from GitHub’s OpenAPI document: Actions secrets of repositories, environments and organizations. The fake
// refuses values that were not encrypted with its own key. The real service does not always do so.

export type Connection = SyncConnection<'code-host-ci'>
export const environment = cloudSamples['code-host-ci']
const { credential } = environment
export const org: Connection = {
  ...environment,
  destination: {
    provider: 'code-host-ci',
    kind: 'org',
    org: 'acme',
    visibility: 'selected',
    selectedRepositoryIds: [11, 12],
  },
}
export const repo: Connection = {
  config: { provider: 'code-host-ci', baseUrl: 'https://git.example.com/api/v3' },
  destination: { provider: 'code-host-ci', kind: 'repo', owner: 'acme', repo: 'shop' },
  credential,
}

interface SecretsFake extends CloudFake<'code-host-ci'> {
  rotate(): void
  bodies: Record<string, unknown>[]
  limit(headers: Record<string, string>): void
}

export async function secretsFake(connection: Connection, root: string): Promise<SecretsFake> {
  await sodium.ready
  let pair = sodium.crypto_box_keypair()
  let keyId = 1
  let limit: Record<string, string> | undefined
  const bodies: Record<string, unknown>[] = []
  const state = new FakeState(() => {
    bodies.length = 0
    limit = undefined
  })
  const refusal = (status: number, message: string, headers: Record<string, string> = {}): FakeAnswer => ({
    status,
    headers,
    body: { message, documentation_url: 'https://docs.example.com', status: String(status) },
  })

  function answer(request: FakeRequest): FakeAnswer {
    const { method, path, query, headers } = request
    if (!headers['user-agent']?.startsWith('skerry')) return refusal(403, 'Request forbidden by administrative rules.')
    if (headers.accept !== 'application/vnd.github+json' || headers['x-github-api-version'] !== '2022-11-28')
      return refusal(400, 'unsupported version')
    if (headers.authorization !== `Bearer ${credential}` || state.is('credential'))
      return refusal(401, 'Bad credentials')
    if (limit) return refusal(403, 'You have exceeded a secondary rate limit.', limit)
    if (!path.startsWith(root) || state.is('missing')) return refusal(404, 'Not Found')
    const rest = path.slice(root.length)
    if (method === 'GET' && rest === '/public-key')
      return { status: 200, body: { key_id: String(keyId), key: Buffer.from(pair.publicKey).toString('base64') } }
    if (method === 'GET' && rest === '') return page(query)
    const [, name] = /^\/([A-Z_][A-Z0-9_]*)$/.exec(rest) ?? []
    return name === undefined || name.startsWith('GITHUB_') ? refusal(422, 'invalid name') : write(request, name)
  }

  function page(query: URLSearchParams): FakeAnswer {
    const size = Number(query.get('per_page') ?? 30)
    const number = Number(query.get('page') ?? 1)
    if (size > 100 || [...query.keys()].some((key) => !['per_page', 'page'].includes(key)))
      return refusal(422, 'Validation Failed')
    const names = [...state.values.keys()].slice((number - 1) * size, number * size)
    const secrets = names.map((name) => ({ name, created_at: state.changedAt(''), updated_at: state.changedAt(name) }))
    return { status: 200, body: { total_count: state.values.size, secrets } }
  }

  function write(request: FakeRequest, name: string): FakeAnswer {
    const readers = root.startsWith('/orgs/') ? ['visibility', 'selected_repository_ids'] : []
    const needed = ['encrypted_value', 'key_id']
    const read =
      request.method === 'PUT'
        ? jsonObject(request, [...needed, ...readers], [...needed, ...readers.slice(0, 1)])
        : { body: {} }
    if ('problem' in read) return refusal(422, read.problem)
    const { encrypted_value = '', key_id } = read.body as { encrypted_value?: string; key_id?: string }
    const may = state.mayWrite(name)
    if (may === 'too many') return refusal(429, 'API rate limit exceeded', { 'retry-after': '60' })
    if (request.method === 'DELETE') return state.delete(name) ? empty(204) : refusal(404, 'Not Found')
    if (request.method !== 'PUT') return refusal(404, 'Not Found')
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(encrypted_value))
      return refusal(422, 'Bad request - encrypted_value is no base64')
    if (key_id !== String(keyId)) return refusal(422, 'Bad request - key_id is not valid')
    bodies.push(read.body)
    let value: string
    try {
      value = Buffer.from(
        sodium.crypto_box_seal_open(Buffer.from(encrypted_value, 'base64'), pair.publicKey, pair.privateKey),
      ).toString('utf8')
    } catch {
      return refusal(422, 'Bad request - value was not sealed for this key')
    }
    if (Buffer.byteLength(value) > 48 * 1024) return refusal(422, 'Bad request - the secret is larger than 48 KB')
    if (may === 'refused') return refusal(400, `cannot store ${value} for ${request.headers.authorization}`)
    const isNew = !state.values.has(name)
    state.set(name, value)
    return isNew ? { status: 201, body: {} } : empty(204)
  }

  const server = await httpFake(answer, { refuse: (status, words) => refusal(status, words) })
  return {
    connection,
    origin: server.origin,
    ...state.controls(),
    bodies,
    limit: (headers) => {
      limit = headers
    },
    rotate: () => {
      pair = sodium.crypto_box_keypair()
      keyId++
    },
    stop: server.stop,
  }
}

export const roots = {
  environment: '/repos/acme/shop/environments/production%2Feu%20west/secrets',
  org: '/orgs/acme/actions/secrets',
  repo: '/api/v3/repos/acme/shop/actions/secrets',
}

import type { SyncConnection } from '../../src/sync/provider.ts'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import type { CloudFake } from './clouds.ts'
import { FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples } from './samples-clouds.ts'

// Built from the data plane’s specification (secrets, 7.4) and RFC 6749: soft delete, names without regard to case,
// pages of two that are linked by full URLs.

export type Connection = SyncConnection<'cloud-c-key-vault'>
export const connection: Connection = cloudSamples['cloud-c-key-vault']
export const own = 'https://shop-production.vault.azure.net'

export interface KeyVaultFake extends CloudFake<'cloud-c-key-vault'> {
  deleted: Map<string, string>
  managed: Set<string>
  /** After a recovery, this many writes are told that it is not finished. */
  settle(requests: number): void
  link(to: string): void
}

export async function keyVaultFake(): Promise<KeyVaultFake> {
  const deleted = new Map<string, string>()
  const managed = new Set<string>()
  let settling = 0
  let afterRecovery = 0
  let linked = own
  const state = new FakeState(() => {
    deleted.clear()
    managed.clear()
    settling = 0
    afterRecovery = 0
    linked = own
  })
  const refusal = (status: number, code: string, message: string, inner?: string): FakeAnswer => ({
    status,
    headers: status === 429 ? { 'retry-after': '10' } : {},
    body: { error: { code, message, ...(inner ? { innererror: { code: inner } } : {}) } },
  })
  const bundle = (name: string) => ({
    id: `${own}/secrets/${name}`,
    attributes: { enabled: true, updated: Math.floor(Date.parse(state.changedAt(name)) / 1000) },
    ...(managed.has(name) ? { managed: true } : {}),
  })

  const deletedItem = (name: string) => ({
    ...bundle(name),
    recoveryId: `${own}/deletedsecrets/${name}`,
    deletedDate: 1_790_000_000,
    scheduledPurgeDate: 1_797_776_000,
  })

  function answer(request: FakeRequest): FakeAnswer {
    const { method, path, query, headers } = request
    if (path === `/${connection.config.tenantId}/oauth2/v2.0/token`) return signIn(request)
    if (headers.authorization !== 'Bearer vault-token') return refusal(401, 'Unauthorized', 'AKV10000')
    if (query.get('api-version') !== '7.4') return refusal(400, 'BadParameter', 'api-version')
    if (state.is('missing')) return refusal(404, 'VaultNotFound', 'no such vault')
    if (method === 'GET' && (path === '/secrets' || path === '/deletedsecrets')) return page(path, query)
    const [, collection, key, action] =
      /^\/(secrets|deletedsecrets)\/([0-9a-zA-Z-]{1,127})(\/recover)?$/.exec(path) ?? []
    if (key === undefined) return refusal(400, 'BadParameter', 'The request URI contains an invalid name')
    const name = [...state.values.keys(), ...deleted.keys()].find((each) => same(each, key)) ?? key
    if (collection === 'deletedsecrets' && action && method === 'POST') return recover(name)
    return collection === 'secrets' ? write(request, name) : refusal(404, 'SecretNotFound', 'not found')
  }

  function signIn(request: FakeRequest): FakeAnswer {
    const form = Object.fromEntries(new URLSearchParams(request.body))
    const asked = { grant_type: 'client_credentials', client_id: connection.config.clientId }
    const right = { ...asked, client_secret: connection.credential, scope: 'https://vault.azure.net/.default' }
    const isRight =
      Object.keys(form).length === 4 && Object.entries(right).every(([name, value]) => form[name] === value)
    if (request.method !== 'POST' || !isRight || state.is('credential'))
      return {
        status: 401,
        body: { error: 'invalid_client', error_description: `AADSTS7000215: ${form.client_secret} is not valid` },
      }
    return { status: 200, body: { token_type: 'Bearer', expires_in: 3599, access_token: 'vault-token' } }
  }

  function page(path: string, query: URLSearchParams): FakeAnswer {
    if (Number(query.get('maxresults') ?? 25) > 25) return refusal(400, 'BadParameter', 'maxresults')
    if ([...query.keys()].some((key) => !['api-version', 'maxresults', '$skiptoken'].includes(key)))
      return refusal(400, 'BadParameter', 'unknown query')
    const names = [...(path === '/secrets' ? state.values : deleted).keys()]
    const from = Number(query.get('$skiptoken') ?? 0)
    const rest = from + 2 < names.length
    const nextLink = rest ? `${linked}${path}?api-version=7.4&$skiptoken=${from + 2}&maxresults=2` : null
    return {
      status: 200,
      body: { value: names.slice(from, from + 2).map(path === '/secrets' ? bundle : deletedItem), nextLink },
    }
  }

  function write(request: FakeRequest, name: string): FakeAnswer {
    const read =
      request.method === 'PUT'
        ? jsonObject(request, ['value', 'contentType', 'tags', 'attributes'], ['value'])
        : { body: {} }
    if ('problem' in read) return refusal(400, 'BadParameter', read.problem)
    const { value } = read.body as { value?: string }
    const may = state.mayWrite(name)
    if (may === 'too many') return refusal(429, 'Throttled', 'too many requests')
    if (request.method === 'DELETE') {
      const before = state.values.get(name)
      if (before === undefined) return refusal(404, 'SecretNotFound', 'A secret with (name/id) was not found')
      const item = bundle(name)
      state.values.delete(name)
      deleted.set(name, before)
      return { status: 200, body: { ...item, ...deletedItem(name) } }
    }
    if (request.method !== 'PUT') return refusal(405, 'MethodNotAllowed', 'no')
    if (settling-- > 0) return refusal(409, 'Conflict', 'busy', 'ObjectIsBeingRecovered')
    if (deleted.has(name)) return refusal(409, 'Conflict', 'is deleted', 'ObjectIsDeletedButRecoverable')
    if (may === 'refused') return refusal(400, 'BadParameter', `${value} with ${request.headers.authorization} is bad`)
    if (Buffer.byteLength(value as string) > 25 * 1024) return refusal(400, 'BadParameter', 'the value is too long')
    state.set(name, value as string)
    return { status: 200, body: { ...bundle(name), id: `${own}/secrets/${name}/4387e9f3d6e14c459867679a90fd0f79` } }
  }

  function recover(name: string): FakeAnswer {
    const before = deleted.get(name)
    if (before === undefined) return refusal(404, 'SecretNotFound', 'not deleted')
    deleted.delete(name)
    state.set(name, before)
    settling = afterRecovery
    return { status: 200, body: bundle(name) }
  }

  const server = await httpFake(answer, {
    contentType: ({ path }) =>
      path.endsWith('/oauth2/v2.0/token') ? 'application/x-www-form-urlencoded' : 'application/json',
    refuse: (status, words) => refusal(status, 'BadParameter', words),
  })
  return {
    connection,
    origin: server.origin,
    ...state.controls(),
    deleted,
    softDelete(name) {
      deleted.set(name, state.values.get(name) ?? '')
      state.values.delete(name)
    },
    managed,
    settle: (requests) => {
      afterRecovery = requests
    },
    link: (to) => {
      linked = to
    },
    stop: server.stop,
  }
}

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import type { CloudFake } from './clouds.ts'
import { empty, FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples } from './samples-clouds.ts'

// Built from the OpenAPI document of Bunnyshell’s API: variables of environments and of projects, in pages of two.

export const connection = cloudSamples['env-platform']
export const project = {
  ...connection,
  destination: { provider: 'env-platform', kind: 'project', projectId: 'PRJ1', secret: false },
} as const

interface VariablesFake extends CloudFake<'env-platform'> {
  flags: Map<string, unknown>
  /** Creates a variable that no list shows until the next write. */
  hide(name: string): void
}

export async function variablesFake(at: { kind: 'environment' | 'project'; id: string }): Promise<VariablesFake> {
  const ids = new Map<string, string>()
  const flags = new Map<string, unknown>()
  const hidden = new Set<string>()
  let made = 0
  const state = new FakeState(() => {
    for (const each of [ids, flags, hidden]) each.clear()
  })
  const problem = (status: number, detail: string, violations?: object[]): FakeAnswer => ({
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: { title: 'An error occurred', detail, ...(violations ? { violations } : {}) },
  })
  const idOf = (name: string) => {
    if (!ids.has(name)) ids.set(name, `VAR${++made}`)
    return ids.get(name) as string
  }

  function answer(request: FakeRequest): FakeAnswer {
    const { method, path, query, headers } = request
    if (
      headers['x-auth-token'] !== connection.credential ||
      headers.authorization !== undefined ||
      state.is('credential')
    )
      return problem(401, 'Access token invalid.')
    if (state.is('missing')) return problem(404, 'Not Found')
    if (method === 'GET' && path === `/v1/${at.kind}s/${at.id}`) return { status: 200, body: { id: at.id } }
    const [, id] = new RegExp(`^/v1/${at.kind}_variables(?:/([A-Z0-9]+))?$`).exec(path) ?? []
    if (!path.startsWith(`/v1/${at.kind}_variables`)) return problem(404, 'No route found')
    return method === 'GET' ? page(query) : write(request, id)
  }

  function page(query: URLSearchParams): FakeAnswer {
    const unknown = [...query.keys()].find((key) => !['page', 'name', at.kind, 'organization'].includes(key))
    if (unknown || query.get(at.kind) !== at.id) return problem(400, 'wrong filter')
    const names = [...state.values.keys()].filter((name) => !hidden.has(name))
    const number = Number(query.get('page') ?? 1)
    const item = names
      .slice((number - 1) * 2, number * 2)
      .map((name) => ({ id: idOf(name), name, value: null, secret: flags.get(name) ?? true, [at.kind]: at.id }))
    const next = number * 2 < names.length ? { href: 'https://attacker.example/next' } : null
    const body = { _links: { next }, totalItems: names.length, page: number, itemsPerPage: 2, _embedded: { item } }
    return { status: 200, headers: { 'content-type': 'application/hal+json' }, body }
  }

  function write(request: FakeRequest, id: string | undefined): FakeAnswer {
    const { method } = request
    const known = [...ids].find(([name, each]) => each === id && state.values.has(name))?.[0]
    const read =
      method === 'DELETE'
        ? { body: {} }
        : method === 'POST'
          ? jsonObject(request, ['name', 'value', 'isSecret', at.kind], ['name', 'value', at.kind])
          : jsonObject(request, ['value', 'isSecret'], ['value'])
    if ('problem' in read) return problem(400, read.problem)
    const { name = known, value, isSecret } = read.body as { name?: string; value?: string; isSecret?: unknown }
    if (name === undefined || (method !== 'POST' && known === undefined)) return problem(404, 'Not Found')
    const may = state.mayWrite(name)
    hidden.clear()
    if (may === 'too many') return { ...problem(429, 'Too many requests'), headers: { 'retry-after': '3' } }
    if (may === 'refused')
      return problem(422, `value: ${value} is bad`, [{ propertyPath: 'value', message: `${value} is bad` }])
    if (method === 'DELETE') {
      state.delete(name)
      ids.delete(name)
      return empty(204)
    }
    if (method === 'POST' && state.values.has(name))
      return problem(422, 'Validation failed', [
        { propertyPath: 'name', message: 'An Environment Variable with this name already exists in this environment.' },
      ])
    if (!/^(?!__|BNS_)\w{3,255}$/.test(name)) return problem(422, 'name: invalid')
    state.set(name, value as string)
    flags.set(name, isSecret)
    return { status: 200, body: { id: idOf(name), name, value: null, secret: isSecret } }
  }

  const server = await httpFake(answer, { refuse: (status, words) => problem(status, words) })
  return {
    connection,
    origin: server.origin,
    ...state.controls(),
    flags,
    hide: (name) => void hidden.add(name),
    stop: server.stop,
  }
}

export const environment = { kind: 'environment', id: 'ZDBlgwe4nq' } as const

import { createHash } from 'node:crypto'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import type { SyncFake } from './conformance.ts'

// Built from the Machines API’s OpenAPI document (AppSecrets, AppSecretsUpdateRequest, ErrorResponse) and fly-go.

const TOKEN = 'fm2_lJPECAAAAAAAAAAB'

export async function flyFake(): Promise<SyncFake<'app-platform-c'>> {
  let values = new Map<string, string>()
  let version = 0
  let writes = 0
  let failure: string | undefined
  const refused = new Set<string>()

  const secrets = () =>
    [...values].map(([name, value]) => ({
      name,
      digest: createHash('sha256').update(`fly${value}`).digest('hex').slice(0, 16),
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
    }))

  function answer(request: FakeRequest): FakeAnswer {
    const { method, path, query, headers, body } = request
    if (headers.authorization !== `FlyV1 ${TOKEN}` || failure === 'credential')
      return { status: 401, body: { error: 'unauthorized' } }
    if (path !== '/v1/apps/shop/secrets' || failure === 'missing')
      return { status: 404, body: { error: 'app not found' } }
    if (failure === 'rate')
      return { status: 429, headers: { 'retry-after': '2' }, body: { error: 'rate limit exceeded' } }
    if (method === 'GET') {
      for (const key of query.keys())
        if (key !== 'min_version') return { status: 400, body: { error: 'unknown query' } }
      if (Number(query.get('min_version') ?? 0) > version)
        return { status: 408, body: { error: 'version not seen yet' } }
      return { status: 200, body: { secrets: secrets() } }
    }
    writes++
    if (failure === 'echo') return { status: 422, body: { error: `cannot store ${body} for ${headers.authorization}` } }
    if (method !== 'POST') return { status: 400, body: { error: 'bad request' } }
    return store(JSON.parse(body))
  }

  function store(update: { values?: Record<string, string | null> }): FakeAnswer {
    if (Object.keys(update).join() !== 'values') return { status: 400, body: { error: 'unknown field' } }
    for (const [name, value] of Object.entries(update.values ?? {})) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return { status: 400, body: { error: 'invalid name' } }
      if (refused.has(name)) return { status: 422, body: { error: 'the name is taken' } }
      if (value !== null && typeof value !== 'string') return { status: 400, body: { error: 'invalid value' } }
    }
    for (const [name, value] of Object.entries(update.values ?? {}))
      if (value === null) values.delete(name)
      else values.set(name, value)
    version++
    return { status: 200, body: { secrets: secrets(), version, Version: version } }
  }

  const server = await httpFake(answer)
  return {
    connection: {
      config: { provider: 'app-platform-c' },
      destination: { provider: 'app-platform-c', appName: 'shop' },
      credential: `FlyV1 ${TOKEN}`,
    },
    origin: server.origin,
    reset() {
      values = new Map()
      writes = 0
      failure = undefined
      refused.clear()
    },
    values: () => values,
    put: (name, value) => values.set(name, value),
    writes: () => writes,
    fail(how) {
      failure = how
    },
    refuse: (name) => void refused.add(name),
    stop: server.stop,
  }
}

import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import type { CloudFake } from './clouds.ts'
import { empty, FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples } from './samples-clouds.ts'

// Built from the Hub’s OpenAPI document: secrets and variables of a Space. Not verified against the real service.

export const connection = cloudSamples['ml-spaces']
const space = `/api/spaces/${connection.destination.repoId}`

interface SpaceFake extends CloudFake<'ml-spaces'> {
  is(sdk: string): void
  variables: Set<string>
}

export async function spaceFake(): Promise<SpaceFake> {
  const variables = new Set<string>()
  let sdk = 'gradio'
  const state = new FakeState(() => {
    variables.clear()
    sdk = 'gradio'
  })
  const refusal = (status: number, error: string): FakeAnswer => ({ status, body: { error } })

  function answer(request: FakeRequest): FakeAnswer {
    const { method, path, query, headers } = request
    if (headers.authorization !== `Bearer ${connection.credential}` || state.is('credential'))
      return refusal(401, 'Invalid username or password.')
    if (!path.startsWith(space) || state.is('missing')) return refusal(404, 'Repository not found')
    if ([...query.keys()].length > 0) return refusal(400, 'unknown query')
    if (method === 'GET' && path === space) return { status: 200, body: { id: 'acme/shop-demo', sdk } }
    if (method === 'GET' && path === `${space}/variables`)
      return { status: 200, body: Object.fromEntries([...variables].map((key) => [key, { key, value: 'public' }])) }
    if (path !== `${space}/secrets`) return refusal(404, 'no such route')
    return method === 'GET' ? { status: 200, body: secrets() } : write(request)
  }

  const secrets = () =>
    Object.fromEntries([...state.values.keys()].map((key) => [key, { key, updatedAt: state.changedAt(key) }]))

  function write(request: FakeRequest): FakeAnswer {
    const fields = request.method === 'POST' ? ['key', 'value', 'description'] : ['key']
    const read = jsonObject(request, fields, ['key'])
    if ('problem' in read) return refusal(400, read.problem)
    const { key, value } = read.body as { key: string; value?: string }
    const may = state.mayWrite(key)
    if (may === 'too many') return { ...refusal(429, 'rate limited'), headers: { ratelimit: '"api";r=0;t=42' } }
    if (may === 'refused') return refusal(400, `cannot store ${value} with ${request.headers.authorization}`)
    if (request.method === 'DELETE') return state.delete(key) ? empty(200) : refusal(404, 'no such secret')
    if (request.method !== 'POST' || !/^[a-zA-Z][_a-zA-Z0-9]*$/.test(key)) return refusal(400, 'invalid key')
    state.set(key, value ?? '')
    return { status: 200, body: { ok: true } }
  }

  const server = await httpFake(answer, { refuse: (status, words) => refusal(status, words) })
  return {
    connection,
    origin: server.origin,
    ...state.controls(),
    is: (kind) => {
      sdk = kind
    },
    variables,
    stop: server.stop,
  }
}

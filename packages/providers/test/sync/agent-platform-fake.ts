import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import type { SyncFake } from './conformance.ts'
import { FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples } from './samples-clouds.ts'

// Built from the control plane’s OpenAPI document: a deployment is read and patched as one, and a list of secrets replaces
// the one before. Whether the service shows values is not documented, so the fake does both.

export const connection = cloudSamples['agent-platform']
const { tenantId } = connection.config
export const path = `/v2/deployments/${connection.destination.deploymentId}`

export interface DeploymentFake extends SyncFake<'agent-platform'> {
  revisions(): number
  mask(how: string): void
}

export async function deploymentFake(): Promise<DeploymentFake> {
  let revisions = 0
  let mask: string | undefined
  const state = new FakeState(() => {
    revisions = 0
    mask = undefined
  })
  const deployment = (): FakeAnswer => ({
    status: 200,
    body: {
      id: connection.destination.deploymentId,
      name: 'shop',
      source: 'github',
      secrets: [...state.values].map(([name, value]) => ({ name, value: mask ?? value })),
    },
  })
  const detail = (status: number, text: unknown): FakeAnswer => ({ status, body: { detail: text } })

  function answer(request: FakeRequest): FakeAnswer {
    const { method, headers } = request
    if (headers['x-api-key'] !== connection.credential || headers['x-tenant-id'] !== tenantId || state.is('credential'))
      return detail(403, 'Forbidden')
    if (request.path !== path || state.is('missing')) return detail(404, 'Deployment not found')
    if (method === 'GET') return deployment()
    if (method !== 'PATCH') return detail(405, 'Method Not Allowed')
    const may = state.mayWrite('')
    if (may === 'too many') return { ...detail(429, 'Too many requests'), headers: { 'retry-after': '7' } }
    if (may === 'refused')
      return detail(422, [
        { loc: ['body', 'secrets'], msg: `bad ${request.body} for ${headers['x-api-key']}`, type: 'x' },
      ])
    const read = jsonObject(request, ['secrets', 'secret_references', 'source_config', 'source_revision_config'])
    return 'problem' in read ? detail(422, [{ loc: ['body'], msg: read.problem, type: 'x' }]) : replace(read.body)
  }

  function replace({ secrets }: Record<string, unknown>): FakeAnswer {
    const list = secrets as { name: string; value: string }[]
    if (list.some((each) => Object.keys(each).sort().join() !== 'name,value' || typeof each.value !== 'string'))
      return detail(422, [{ loc: ['body', 'secrets'], msg: 'Field required', type: 'missing' }])
    state.values.clear()
    for (const { name, value } of list) state.set(name, value)
    revisions++
    return deployment()
  }

  const server = await httpFake(answer, { refuse: (status, words) => detail(status, words) })
  const { refuse: _, ...controls } = state.controls()
  return {
    connection,
    origin: server.origin,
    ...controls,
    revisions: () => revisions,
    mask: (how) => {
      mask = how
    },
    stop: server.stop,
  }
}

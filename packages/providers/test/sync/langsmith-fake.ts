import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import type { SyncFake } from './conformance.ts'
import { FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples } from './samples-clouds.ts'

// Built from the control plane’s OpenAPI document: a deployment is read and patched as a whole, and a list of secrets
// replaces the previous one. It is not documented whether the service shows values, so the fake can do both.

export const connection = cloudSamples['agent-platform']
const { tenantId } = connection.config
export const path = `/v2/deployments/${connection.destination.deploymentId}`

export interface DeploymentFake extends SyncFake<'agent-platform'> {
  revisions(): number
  mask(how: string): void
  /** From now on, a refusal does not say which entry it is about. */
  refuseVaguely(): void
}

interface Secret {
  name: string
  value: string
}

export async function deploymentFake(): Promise<DeploymentFake> {
  let revisions = 0
  let mask: string | undefined
  let vague = false
  const refused = new Set<string>()
  const state = new FakeState(() => {
    refused.clear()
    vague = false
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
    if ('problem' in read) return detail(422, [{ loc: ['body'], msg: read.problem, type: 'x' }])
    const problems = problemsOf(read.body.secrets as Secret[], String(headers['x-api-key']))
    if (problems.length > 0) return vague ? detail(400, 'invalid secrets') : detail(422, problems)
    return replace(read.body)
  }

  /** Names the entries that cannot be stored, and quotes the input, as services of this kind do. */
  const problemsOf = (secrets: Secret[], key: string) =>
    secrets.flatMap(({ name, value }, index) =>
      refused.has(name)
        ? [
            {
              loc: ['body', 'secrets', index, 'name'],
              msg: `${name} is reserved`,
              type: 'value_error',
              input: value + key,
            },
          ]
        : [],
    )

  function replace({ secrets }: Record<string, unknown>): FakeAnswer {
    const list = secrets as Secret[]
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
    refuse: (name) => void refused.add(name),
    refuseVaguely: () => {
      vague = true
    },
    revisions: () => revisions,
    mask: (how) => {
      mask = how
    },
    stop: server.stop,
  }
}

import { fields, holds, routedFake } from '../http-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From DigitalOcean’s OpenAPI document (apps, app_variable_definition). A spec is replaced as a whole. Secrets are
// returned encrypted, and are accepted in that form.

export const app = platformSamples['app-platform-e']
export const component = {
  ...app,
  destination: { ...app.destination, kind: 'component' as const, componentName: 'web' },
}

interface Variable {
  key: string
  value: string
  scope: string
  type: string
}
interface Spec {
  name: string
  region: string
  envs: Variable[]
  services: { name: string; instance_count: number; envs: Variable[] }[]
  ingress: object
}

export async function appsFake(connection: typeof app | typeof component) {
  const isComponent = connection.destination.kind === 'component'
  let spec: Spec
  let opened = new Map<string, string>()
  const fresh = (): Spec => ({
    name: 'shop',
    region: 'fra',
    envs: [],
    services: [{ name: 'web', instance_count: 2, envs: [] }],
    ingress: { rules: [{ match: { path: { prefix: '/' } } }] },
  })
  spec = fresh()
  const variables = () => (isComponent ? (spec.services[0]?.envs ?? []) : spec.envs)

  const encrypt = (value: string) => {
    if (opened.has(value)) return value
    const box = `EV[1:${opened.size}:${'x'.repeat(12)}]`
    opened.set(box, value)
    return box
  }
  const stored = (each: Variable): Variable => (each.type === 'SECRET' ? { ...each, value: encrypt(each.value) } : each)
  const isVariable = holds({
    key: (key) => /^[_A-Za-z][_A-Za-z0-9]*$/.test(String(key)),
    value: (value) => typeof value === 'string',
    scope: (scope) => ['RUN_TIME', 'BUILD_TIME', 'RUN_AND_BUILD_TIME'].includes(String(scope)),
    type: (type) => ['GENERAL', 'SECRET'].includes(String(type)),
  })

  const server = await routedFake((control) => {
    const refuse = (status: number, message: string) => ({
      status: status === 422 ? 400 : status,
      ...(status === 429 ? { headers: { 'ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 30) } } : {}),
      body: { id: status === 404 ? 'not_found' : 'refused', message, request_id: 'req-1' },
    })
    const path = new RegExp(`^/v2/apps/${connection.destination.appId}$`)
    const answer = () => ({ status: 200, body: { app: { id: connection.destination.appId, spec } } })
    return {
      headers: { authorization: `Bearer ${connection.credential}` },
      refuse,
      routes: [
        { method: 'GET', path, answer },
        {
          method: 'PUT',
          path,
          writes: true,
          body: fields({ spec: (value) => value !== null && typeof value === 'object' }),
          answer({ json }) {
            const given = (json as { spec: Spec }).spec
            const all = [...given.envs, ...given.services.flatMap(({ envs }) => envs)]
            if (!all.every(isVariable)) return refuse(400, 'error validating app spec')
            if (all.some(({ key }) => control.isRefused(key))) return refuse(400, 'error validating app spec')
            spec = {
              ...given,
              envs: given.envs.map(stored),
              services: given.services.map((each) => ({ ...each, envs: each.envs.map(stored) })),
            }
            return answer()
          },
        },
      ],
    }
  })
  return {
    ...server,
    connection,
    reset() {
      server.reset()
      spec = fresh()
      opened = new Map()
    },
    values: () => new Map(variables().map(({ key, value }) => [key, opened.get(value) ?? value])),
    put: (key: string, value: string) =>
      void variables().push({ key, value: encrypt(value), scope: 'RUN_AND_BUILD_TIME', type: 'SECRET' }),
    spec: () => spec,
  }
}

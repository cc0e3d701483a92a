import { expect } from 'vitest'
import { fields, holds, isText, mapOf, routedFake } from '../http-fake.ts'
import { edgeFailure, edgeOk, edgeRules } from './cloudflare-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From Cloudflare’s OpenAPI document (Pages projects, deployment configs). The hash of the configuration file and the
// meaning of null are as in Cloudflare’s own client.

export const connection = platformSamples['edge-pages']
const { accountId } = connection.config

type Variable = { type: string; value: string }
type Configs = Record<string, { env_vars: Record<string, Variable | null>; wrangler_config_hash?: string }>

export async function pagesFake() {
  const stored = () =>
    new Map<string, Map<string, Variable>>([
      ['production', new Map()],
      ['preview', new Map()],
    ])
  let environments = stored()

  const project = () => ({
    name: 'shop',
    deployment_configs: Object.fromEntries(
      [...environments].map(([environment, vars]) => [
        environment,
        {
          // If nothing was ever set, there is no map.
          env_vars: vars.size === 0 ? null : Object.fromEntries([...vars].map(shown)),
          wrangler_config_hash: `hash-of-${environment}`,
          compatibility_date: '2026-01-01',
        },
      ]),
    ),
  })
  const shown = ([name, { type, value }]: [string, Variable]) => [
    name,
    { type, value: type === 'secret_text' ? '' : value },
  ]
  const isVariable = (value: unknown) =>
    value === null || holds({ type: (type) => type === 'secret_text', value: isText })(value)
  const isConfig = holds({ env_vars: mapOf(isVariable), wrangler_config_hash: isText })

  const server = await routedFake((control) => {
    const path = new RegExp(`^/client/v4/accounts/${accountId}/pages/projects/shop$`)
    return {
      ...edgeRules(connection.credential, { missing: 8000007, refused: 8000013 }),
      routes: [
        { method: 'GET', path, answer: () => edgeOk(project()) },
        {
          method: 'PATCH',
          path,
          writes: true,
          body: fields({ deployment_configs: mapOf(isConfig) }),
          answer({ json }) {
            const configs = Object.entries((json as { deployment_configs: Configs }).deployment_configs)
            for (const [environment, { env_vars, wrangler_config_hash }] of configs) {
              if (!environments.has(environment)) return edgeFailure(400, 8000013, 'no such environment')
              if (wrangler_config_hash !== `hash-of-${environment}`) return edgeFailure(400, 8000013, 'another hash')
              if (Object.keys(env_vars).some(control.isRefused)) return edgeFailure(400, 8000013, 'invalid name')
            }
            for (const [environment, { env_vars }] of configs)
              for (const [name, variable] of Object.entries(env_vars))
                if (variable === null) environments.get(environment)?.delete(name)
                else environments.get(environment)?.set(name, variable)
            return edgeOk(project())
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
      environments = stored()
    },
    values() {
      const [production, preview] = [...environments.values()].map(
        (vars) => new Map([...vars].map(([name, { value }]) => [name, value])),
      )
      expect(preview).toEqual(production)
      return production ?? new Map()
    },
    put(name: string, value: string) {
      for (const vars of environments.values()) vars.set(name, { type: 'plain_text', value })
    },
    only: (environment: string) => environments.get(environment) ?? new Map<string, Variable>(),
  }
}

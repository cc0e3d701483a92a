import type { Outbound } from '../outbound.ts'
import { call, objectOf } from './call.ts'
import { edgeAccount, edgeApi } from './cloudflare-api.ts'
import type { SyncConnection, SyncFacts, SyncPlace, SyncSession } from './provider.ts'
import { done, inHalves, withoutTaken } from './pushing.ts'

// Secrets of a Cloudflare Pages project. They are fields of the project: a PATCH keeps the names that it omits, and
// null removes a name. One call changes both environments, so that neither is left behind.

type Environment = SyncPlace<'edge-pages'>['destination']['environments'][number]

/** The settings of an environment that are read here. */
interface Settings {
  names: string[]
  /** Hash of the project's configuration file. The vendor’s own client sends it back with each change. */
  configHash: string | null
}

export function describe({ config, destination }: SyncPlace<'edge-pages'>): SyncFacts {
  const project = `account/${config.accountId}/pages/${destination.projectName}`
  return {
    places: destination.environments.map((environment) => `${project}/${environment}`),
    limits: {
      name: {
        pattern: '^[A-Za-z_$][A-Za-z0-9_$]*$',
        words: 'letters, digits, underscores and dollar signs, not beginning with a digit',
        reserved: [],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: 100,
      pushIntervalMs: 0,
    },
    effects: [
      'The next deployment of each Pages environment uses the new values. Existing deployments keep the old values.',
      'The values of the preview environment apply to the preview deployments of all git branches.',
      'If the project has a plain-text variable of the same name, this variable becomes a secret.',
    ],
  }
}

export function open(
  { config, destination, credential }: SyncConnection<'edge-pages'>,
  outbound: Outbound,
): SyncSession {
  const api = edgeApi(outbound, credential)
  const url = `${edgeAccount(outbound, 'edge-pages', config.accountId)}/pages/projects/${destination.projectName}`

  async function read(): Promise<Map<Environment, Settings>> {
    const { body } = await call(api, { method: 'GET', url })
    const configs = objectOf(objectOf(objectOf(body, 'result').result, 'project').deployment_configs ?? {}, 'settings')
    return new Map(destination.environments.map((environment) => [environment, settingsOf(configs[environment] ?? {})]))
  }

  return {
    async verify() {
      await read()
      return { notes: [] }
    },
    async list() {
      const names = [...(await read()).values()].flatMap((settings) => settings.names)
      return [...new Set(names)].map((name) => ({ name, revision: null }))
    },
    async push(given) {
      const current = await read()
      const isThere = (name: string) => [...current.values()].some(({ names }) => names.includes(name))
      const { changes, failed } = withoutTaken(given, isThere)
      const outcome = await inHalves(changes, async (part) => {
        const configs = [...current].flatMap(([environment, { names, configHash }]) => {
          const vars = Object.fromEntries([
            ...part.write.map(({ name, value }) => [name, { type: 'secret_text', value }]),
            ...part.remove.filter(({ name }) => names.includes(name)).map(({ name }) => [name, null]),
          ])
          const hash = configHash === null ? {} : { wrangler_config_hash: configHash }
          return Object.keys(vars).length === 0 ? [] : [[environment, { env_vars: vars, ...hash }]]
        })
        const json = { deployment_configs: Object.fromEntries(configs) }
        const values = part.write.map(({ value }) => value)
        if (configs.length > 0) await call(api, { method: 'PATCH', url, json }, values)
        return done(part)
      })
      return { ...outcome, failed: [...failed, ...outcome.failed] }
    },
  }
}

function settingsOf(settings: unknown): Settings {
  const { env_vars, wrangler_config_hash } = objectOf(settings, 'settings')
  return {
    names: Object.keys(objectOf(env_vars ?? {}, 'variables')),
    configHash: typeof wrangler_config_hash === 'string' ? wrangler_config_hash : null,
  }
}

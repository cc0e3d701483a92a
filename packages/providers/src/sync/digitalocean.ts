import type { JsonAnswer } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { type Api, call, listOf, objectOf, tokenOf } from './call.ts'
import type { SyncChanges, SyncConnection, SyncFacts, SyncOutcome, SyncPlace, SyncSession } from './provider.ts'
import { done, inHalves, without, withoutTaken } from './pushing.ts'

// Variables of a DigitalOcean App Platform app, or of one of its components. They are a part of the app’s spec, which
// is read and written as a whole. Unknown fields are sent back unchanged, and so are the encrypted values of others.

const ORIGIN = 'https://api.digitalocean.com'
const kinds = ['services', 'static_sites', 'workers', 'jobs', 'functions']

type Tree = Record<string, unknown>

export function describe({ destination }: SyncPlace<'app-platform-e'>): SyncFacts {
  const { appId, kind, scope = 'RUN_TIME' } = destination
  return {
    places: [kind === 'app' ? `app/${appId}` : `app/${appId}/component/${destination.componentName}`],
    rules: scope,
    limits: {
      name: {
        pattern: '^[_A-Za-z][_A-Za-z0-9]*$',
        words: 'letters, digits and underscores, not beginning with a digit',
        reserved: [],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: null,
      pushIntervalMs: 0,
    },
    effects: [
      `Each push ${scope === 'RUN_TIME' ? 'deploys' : 'builds and deploys'} the app again, and replaces a deployment that is in progress.`,
      'DigitalOcean refuses a whole push if it refuses one name. Skerry then pushes the other names in smaller pushes, and each of them starts a deployment.',
      'If somebody else changes the app during a push, this change can be lost.',
      'Skerry refuses a value that contains ${, because App Platform would read it as a reference.',
      ...(kind === 'app'
        ? ['If a component has its own variable with the same name, the component uses its own value.']
        : []),
    ],
  }
}

export function open({ destination, credential }: SyncConnection<'app-platform-e'>, outbound: Outbound): SyncSession {
  const { appId, scope = 'RUN_TIME' } = destination
  const headers = { authorization: `Bearer ${tokenOf(credential)}` }
  const api: Api = { outbound, credential, headers, readErrorText, pauseMs }
  const url = `${outbound.origin('app-platform-e', ORIGIN)}/v2/apps/${appId}`

  async function read(): Promise<{ spec: Tree; owner: Tree; variables: Tree[] }> {
    const { body } = await call(api, { method: 'GET', url })
    const spec = objectOf(objectOf(objectOf(body, 'answer').app, 'app').spec, 'spec')
    const owner = destination.kind === 'app' ? spec : componentOf(spec, destination.componentName)
    return { spec, owner, variables: listOf(owner.envs ?? [], 'variables') }
  }

  async function write(part: Pick<SyncChanges, 'write' | 'remove'>): Promise<SyncOutcome> {
    const { spec, owner, variables } = await read()
    const { changes, failed } = withoutTaken(part, (name) => variables.some(({ key }) => key === name))
    const { write, remove } = changes
    const outcome = { ...done(changes), failed }
    const changed = new Set([...write, ...remove].map(({ name }) => name))
    const kept = variables.filter(({ key }) => !changed.has(String(key)))
    if (write.length === 0 && kept.length === variables.length) return outcome
    owner.envs = [...kept, ...write.map(({ name, value }) => ({ key: name, value, scope, type: 'SECRET' }))]
    const values = write.map(({ value }) => value)
    await call(api, { method: 'PUT', url, json: { spec } }, values)
    return outcome
  }

  return {
    async verify() {
      await read()
      return { notes: [] }
    },
    async list() {
      const names = (await read()).variables.map(({ key }) => String(key))
      // The same name may occur twice, for builds and for runs.
      return [...new Set(names)].map((name) => ({ name, revision: null }))
    },
    async push(given) {
      const { changes, failed } = without(given, ({ value }) => (value.includes('${') ? reference : null))
      const outcome = await inHalves(changes, write)
      return { ...outcome, failed: [...failed, ...outcome.failed] }
    },
  }
}

const reference = 'The value contains ${, which App Platform would read as a reference to another variable.'

function componentOf(spec: Tree, name: string): Tree {
  const components = kinds.flatMap((kind) => listOf(spec[kind] ?? [], 'components'))
  const component = components.find((each) => each.name === name)
  if (component === undefined) throw new ProviderError('missing', 'the app has no component with this name')
  return component
}

/** Returns only the id, because a message about a spec may quote from it. */
function readErrorText(body: unknown): string | null {
  const id = (body as { id?: unknown } | undefined)?.id
  return typeof id === 'string' ? id : null
}

/** `ratelimit-reset` is the time at which the oldest request no longer counts. */
function pauseMs({ headers }: JsonAnswer, now: Date): number | undefined {
  const reset = Number(headers['ratelimit-reset'])
  return Number.isFinite(reset) ? reset * 1000 - now.getTime() : undefined
}

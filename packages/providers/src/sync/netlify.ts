import type { JsonAnswer, JsonRequest } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { type Api, call, ignoreMissing, listOf, objectOf, tokenOf } from './call.ts'
import { madeMeanwhile, oneByOne } from './one-by-one.ts'
import type { SyncConnection, SyncFacts, SyncPlace, SyncSession, SyncWritten } from './provider.ts'

// Environment variables of a Netlify site (https://open-api.netlify.com). A variable has one value for each deploy
// context, or one for all. Only the contexts of the destination are changed.

const ORIGIN = 'https://api.netlify.com'
/** The scopes in which a secret can be used. Post-processing is left out, because it would show the secret. */
const secretScopes = ['builds', 'functions', 'runtime']

type Destination = SyncPlace<'site-host'>['destination']

interface Context {
  context: string
  context_parameter?: string
}

interface Variable {
  secret: boolean
  updatedAt: string | null
  values: (Context & { id: string })[]
}

export function describe(place: SyncPlace<'site-host'>): SyncFacts {
  const { siteId, contexts, branch, secret = true } = place.destination
  return {
    places: contexts.map((context) => {
      // The id of a site is unique among all teams. A team has both a slug and an id, so the place does not name it.
      const place = `site/${siteId}/${context}`
      return context === 'branch' ? `${place}/${branch}` : place
    }),
    rules: secret ? 'secret' : 'readable',
    limits: {
      name: {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        words: 'letters, digits and underscores, not beginning with a digit',
        reserved: [],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: null,
      // Netlify allows 500 requests a minute, and each context of a name needs one.
      pushNamesMax: 50,
      pushIntervalMs: 1000,
    },
    effects: [
      'The next deployment uses the new values.',
      'A function can have about 4 KB of variables in total. Above this limit, the push succeeds but deployments fail.',
      ...(secret ? ['If a push turns a variable into a secret, nobody can make the variable readable again.'] : []),
      ...(secret && contexts.includes('dev')
        ? ['The value for the context dev stays readable at Netlify, even if the variable is a secret.']
        : []),
    ],
  }
}

export function open(
  { config, destination, credential }: SyncConnection<'site-host'>,
  outbound: Outbound,
): SyncSession {
  const headers = { authorization: `Bearer ${tokenOf(credential)}`, 'user-agent': 'skerry' }
  const api: Api = { outbound, credential, headers, readErrorText, pauseMs }
  const origin = `${outbound.origin('site-host', ORIGIN)}/api/v1`
  const ours = contextsOf(destination)
  const isOurs = (value: Context) => ours.some((context) => sameContext(context, value))
  /** Whether a value applies to a context of the destination. A value for all contexts does too. */
  const isInPlace = (value: Context) => value.context === 'all' || isOurs(value)

  /** Without `site_id`, a variable would belong to the whole team. */
  const url = (path = '') => `${origin}/accounts/${config.accountId}/env${path}?site_id=${destination.siteId}`

  async function read(): Promise<Map<string, Variable>> {
    const { body } = await call(api, { method: 'GET', url: url() })
    return new Map(listOf(body, 'variables').map((row) => [String(row.key), variableOf(row)]))
  }

  return {
    async verify() {
      const { body } = await call(api, { method: 'GET', url: `${origin}/sites/${destination.siteId}` })
      const { account_slug, account_id } = objectOf(body, 'site')
      if (account_slug !== config.accountId && account_id !== config.accountId)
        throw new ProviderError('invalid', 'the site belongs to another team')
      await read()
      return { notes: [] }
    },
    async list() {
      const held = [...(await read())].filter(([, { values }]) => values.some(isInPlace))
      return held.map(([name, { updatedAt }]) => ({ name, revision: updatedAt }))
    },
    async push(changes) {
      const variables = await read()
      return await oneByOne(changes, {
        async write({ name, value, isNew }) {
          const known = variables.get(name)
          if (isNew && known?.values.some(isInPlace)) throw madeMeanwhile()
          return await write(name, value, known)
        },
        async remove({ name }) {
          const known = variables.get(name)
          if (known) await remove(name, known)
        },
      })
    },
  }

  async function write(name: string, value: string, known: Variable | undefined): Promise<Omit<SyncWritten, 'name'>> {
    const { secret = true } = destination
    const path = `/${encodeURIComponent(name)}`
    const whole = newVariable(destination, name, value)
    const ask = async (request: Pick<JsonRequest, 'method' | 'url' | 'json'>) =>
      revisionOf((await call(api, request, [value])).body)
    if (known === undefined) return { revision: await ask({ method: 'POST', url: url(), json: [whole] }), memo: null }
    if (known.secret || !secret) {
      let revision: string | null = null
      for (const context of ours) revision = await ask({ method: 'PATCH', url: url(path), json: { ...context, value } })
      return { revision, memo: null }
    }
    // The call that turns a variable into a secret replaces the values of all contexts.
    if (!known.values.every(isOurs))
      throw new ProviderError('invalid', 'the existing variable is not a secret, and has values for other contexts')
    return { revision: await ask({ method: 'PUT', url: url(path), json: whole }), memo: null }
  }

  async function remove(name: string, { values }: Variable): Promise<void> {
    const path = `/${encodeURIComponent(name)}`
    const gone = values.filter(isOurs)
    if (gone.length === 0) return
    if (gone.length === values.length) return void (await deleted(path))
    for (const { id } of gone) await deleted(`${path}/value/${encodeURIComponent(id)}`)
  }

  async function deleted(path: string): Promise<void> {
    await call(api, { method: 'DELETE', url: url(path) }).catch(ignoreMissing)
  }
}

function newVariable(destination: Destination, name: string, value: string) {
  const { secret = true } = destination
  return {
    key: name,
    is_secret: secret,
    ...(secret ? { scopes: secretScopes } : {}),
    values: contextsOf(destination).map((context) => ({ ...context, value })),
  }
}

const contextsOf = ({ contexts, branch }: Destination): Context[] =>
  contexts.map((context) => (context === 'branch' ? { context, context_parameter: branch ?? '' } : { context }))

const sameContext = (a: Context, b: Context) =>
  a.context === b.context && (a.context !== 'branch' || a.context_parameter === b.context_parameter)

/**
 * The time of the last change of a variable, or of the first one in a list. A change in another context changes it too.
 */
function revisionOf(body: unknown): string | null {
  const { updated_at } = (Array.isArray(body) ? body[0] : body) ?? {}
  return typeof updated_at === 'string' ? updated_at : null
}

function variableOf(row: Record<string, unknown>): Variable {
  const { is_secret, values } = row
  return {
    secret: is_secret === true,
    updatedAt: revisionOf(row),
    values: listOf(values ?? [], 'values').map(({ id, context, context_parameter }) => ({
      id: String(id),
      context: String(context),
      ...(typeof context_parameter === 'string' ? { context_parameter } : {}),
    })),
  }
}

function readErrorText(body: unknown): string | null {
  const { message, msg } = (body ?? {}) as { message?: unknown; msg?: unknown }
  return ([message, msg].find((each) => typeof each === 'string') as string | undefined) ?? null
}

/** Returns the milliseconds until the minute ends. The header gives seconds since 1970. */
function pauseMs({ headers }: JsonAnswer, now: Date): number | undefined {
  const reset = Number(headers['x-ratelimit-reset'])
  return Number.isFinite(reset) ? reset * 1000 - now.getTime() : undefined
}

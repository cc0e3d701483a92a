import type { JsonAnswer } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { type Api, call, digestOf, objectOf, tokenOf } from './call.ts'
import type { SyncChanges, SyncConnection, SyncFacts, SyncPlace, SyncSession } from './provider.ts'
import { done, inHalves } from './pushing.ts'

// Config vars of a Heroku app, through the Platform API (https://devcenter.heroku.com/articles/platform-api-reference).
// One call writes and removes any number of names, creates one release and restarts the dynos.

const ORIGIN = 'https://api.heroku.com'

export function describe({ destination }: SyncPlace<'app-platform-f'>): SyncFacts {
  return {
    places: [`app/${destination.app}`],
    limits: {
      name: {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        words: 'letters, digits and underscores, not beginning with a digit',
        reserved: ['HEROKU_*', '__*'],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: 65_536,
      pushNamesMax: null,
      pushIntervalMs: 0,
    },
    effects: [
      'Each push creates a release and restarts all dynos of the app.',
      'Heroku refuses a whole push if it refuses one name, for example a variable of an add-on. Skerry then pushes the other names in smaller pushes, and each of them restarts the dynos.',
    ],
  }
}

export function open({ destination, credential }: SyncConnection<'app-platform-f'>, outbound: Outbound): SyncSession {
  const headers = {
    accept: 'application/vnd.heroku+json; version=3',
    authorization: `Bearer ${tokenOf(credential)}`,
  }
  const api: Api = { outbound, credential, headers, readErrorText, refusal }
  const app = `${outbound.origin('app-platform-f', ORIGIN)}/apps/${destination.app}`

  async function read(): Promise<Record<string, unknown>> {
    return objectOf((await call(api, { method: 'GET', url: `${app}/config-vars` })).body, 'config vars')
  }

  return {
    async verify() {
      await call(api, { method: 'GET', url: app })
      await read()
      return { notes: [] }
    },
    async places() {
      const { id } = objectOf((await call(api, { method: 'GET', url: app })).body, 'app')
      return [`app/${id}`]
    },
    async list() {
      return Object.entries(await read()).map(([name, value]) => ({ name, revision: digestOf(String(value)) }))
    },
    async push(changes) {
      // A call that changes nothing could still restart the dynos.
      const names = changes.remove.length === 0 ? [] : Object.keys(await read())
      return await inHalves(changes, async (part) => {
        const removed = part.remove.filter(({ name }) => names.includes(name))
        if (part.write.length + removed.length > 0) await send(part.write, removed)
        return done(part, ({ value }) => digestOf(value))
      })
    },
  }

  async function send(write: SyncChanges['write'], remove: SyncChanges['remove']): Promise<void> {
    const json = Object.fromEntries([
      ...write.map(({ name, value }) => [name, value]),
      ...remove.map(({ name }) => [name, null]),
    ])
    // The answer contains the values of all config vars, so it is not read.
    const values = write.map(({ value }) => value)
    await call(api, { method: 'PATCH', url: `${app}/config-vars`, json }, values)
  }
}

/** An app with unpaid bills accepts no names at all. */
function refusal({ status }: JsonAnswer, words: string | null): ProviderError | null {
  return status === 402 ? new ProviderError('denied', `HTTP 402: ${words ?? 'the account is delinquent'}`) : null
}

/** Returns only the id, because a message may quote what was sent. */
function readErrorText(body: unknown): string | null {
  const id = (body as { id?: unknown } | undefined)?.id
  return typeof id === 'string' ? id : null
}

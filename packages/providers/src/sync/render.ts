import type { Outbound } from '../outbound.ts'
import { type Api, call, digestOf, ignoreMissing, listOf, objectOf, readPages, tokenOf } from './call.ts'
import { oneByOne } from './one-by-one.ts'
import type { SyncConnection, SyncEntry, SyncFacts, SyncPlace, SyncSession } from './provider.ts'

// Environment variables of a Render service or environment group (https://api-docs.render.com). The call for many names
// replaces all existing ones, so each name is written alone.

const ORIGIN = 'https://api.render.com'
const pageSize = 100

export function describe({ destination }: SyncPlace<'app-platform-b'>): SyncFacts {
  const isService = destination.kind === 'service'
  return {
    places: [isService ? `service/${destination.serviceId}` : `env-group/${destination.envGroupId}`],
    limits: {
      name: {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        words: 'letters, digits and underscores, not beginning with a digit',
        reserved: ['RENDER', 'RENDER_*'],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: false,
      totalBytesMax: null,
      // Render allows 30 writes a minute for all keys of a user.
      pushNamesMax: 10,
      pushIntervalMs: 20_000,
    },
    effects: [
      'The next deployment uses the new values. A push does not start a deployment.',
      isService
        ? 'If a blueprint declares a variable of the same name, the blueprint may overwrite the pushed value.'
        : 'If a service has its own variable with the same name, the service uses its own value.',
      'Skerry writes about 30 names per minute, because Render accepts no more.',
    ],
  }
}

export function open({ destination, credential }: SyncConnection<'app-platform-b'>, outbound: Outbound): SyncSession {
  const api: Api = { outbound, credential, headers: { authorization: `Bearer ${tokenOf(credential)}` }, readErrorText }
  const origin = `${outbound.origin('app-platform-b', ORIGIN)}/v1`
  const place =
    destination.kind === 'service'
      ? `${origin}/services/${destination.serviceId}`
      : `${origin}/env-groups/${destination.envGroupId}`

  const list = async () => (destination.kind === 'service' ? await readService() : await readGroup())

  const readService = () =>
    readPages<SyncEntry, string>('variables', async (cursor) => {
      const from = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { body } = await call(api, { method: 'GET', url: `${place}/env-vars?limit=${pageSize}${from}` })
      const rows = listOf(body, 'variables')
      return {
        rows: rows.map(({ envVar }) => entryOf(objectOf(envVar, 'variable'))),
        next: rows.length < pageSize ? null : String(rows.at(-1)?.cursor),
      }
    })

  async function readGroup(): Promise<SyncEntry[]> {
    const { body } = await call(api, { method: 'GET', url: place })
    return listOf(objectOf(body, 'group').envVars, 'variables').map(entryOf)
  }

  return {
    async verify() {
      await list()
      return { notes: [] }
    },
    list,
    async push(changes) {
      const url = (name: string) => `${place}/env-vars/${encodeURIComponent(name)}`
      return await oneByOne(changes, {
        async write({ name, value }) {
          // The answer contains values, and for a group those of all names, so it is not read.
          await call(api, { method: 'PUT', url: url(name), json: { value } }, [value])
          return { revision: digestOf(value), memo: null }
        },
        async remove({ name }) {
          await call(api, { method: 'DELETE', url: url(name) }).catch(ignoreMissing)
        },
      })
    },
  }
}

const entryOf = ({ key, value }: Record<string, unknown>): SyncEntry => ({
  name: String(key),
  revision: typeof value === 'string' ? digestOf(value) : null,
})

function readErrorText(body: unknown): string | null {
  const message = (body as { message?: unknown } | undefined)?.message
  return typeof message === 'string' ? message : null
}

import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { call, ignoreMissing, listOf, objectOf, readPages } from './call.ts'
import { edgeAccount, edgeApi } from './cloudflare-api.ts'
import { madeMeanwhile, oneByOne } from './one-by-one.ts'
import type { SyncConnection, SyncFacts, SyncPlace, SyncSession, SyncWritten } from './provider.ts'

// Secrets of a Cloudflare Secrets Store. They are changed by id, and Cloudflare accepts a deletion before it is done.

const pageSize = 100
/** The shortest time until the name of a deleted secret may be free again. */
const deletionMs = 5_000

type Written = Omit<SyncWritten, 'name'>

interface Secret {
  id: string
  name: string
  scopes: string[]
  modified: string
  deleted: boolean
}

export function describe({ config, destination }: SyncPlace<'edge-secrets-store'>): SyncFacts {
  return {
    places: [`account/${config.accountId}/store/${destination.storeId}`],
    rules: [...destination.scopes].sort().join(),
    limits: {
      name: {
        pattern: '^[A-Za-z0-9_-]+$',
        words: 'letters, digits, underscores and hyphens',
        reserved: [],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: 65_536,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: 50,
      pushIntervalMs: 0,
    },
    effects: [
      'Workers that use a secret read its new value without a deployment.',
      'If a push removes a secret, Workers that use this secret stop working.',
    ],
  }
}

export function open(connection: SyncConnection<'edge-secrets-store'>, outbound: Outbound): SyncSession {
  const { config, destination, credential } = connection
  const api = edgeApi(outbound, credential)
  const account = edgeAccount(outbound, 'edge-secrets-store', config.accountId)
  const url = `${account}/secrets_store/stores/${destination.storeId}/secrets`

  const readAll = () =>
    readPages<Secret, number>('secrets', async (cursor) => {
      const page = cursor ?? 1
      const { body } = await call(api, { method: 'GET', url: `${url}?page=${page}&per_page=${pageSize}` })
      const { result, result_info } = objectOf(body, 'result')
      const rows = listOf(result, 'secrets').map(secretOf)
      const pages = (result_info as { total_pages?: unknown } | undefined)?.total_pages
      const isLast = typeof pages === 'number' ? page >= pages : rows.length < pageSize
      return { rows, next: isLast ? null : page + 1 }
    })

  return {
    async verify() {
      await readAll()
      return { notes: [] }
    },
    async list() {
      const secrets = (await readAll()).filter(({ deleted }) => !deleted)
      return secrets.map(({ name, modified }) => ({ name, revision: modified }))
    },
    async push(changes) {
      const secrets = await readAll()
      const byName = new Map(secrets.filter(({ deleted }) => !deleted).map((secret) => [secret.name, secret]))
      const leaving = new Set(secrets.filter(({ deleted }) => deleted).map(({ name }) => name))
      return await oneByOne(changes, {
        async write({ name, value, isNew }) {
          const known = byName.get(name)
          if (known && isNew) throw madeMeanwhile()
          return known ? await update(known, value) : await create(name, value, leaving.has(name))
        },
        async remove({ name }) {
          const known = byName.get(name)
          if (known) await call(api, { method: 'DELETE', url: `${url}/${known.id}` }).catch(ignoreMissing)
        },
      })
    },
  }

  async function update(secret: Secret, value: string): Promise<Written> {
    // Scopes in the request replace the existing ones, and other products may already use the secret.
    const lacking = destination.scopes.filter((scope) => !secret.scopes.includes(scope))
    const scopes = lacking.length === 0 ? {} : { scopes: [...secret.scopes, ...lacking] }
    const json = { value, ...scopes }
    const { body } = await call(api, { method: 'PATCH', url: `${url}/${secret.id}`, json }, [value])
    const { modified } = secretOf(objectOf(objectOf(body, 'result').result, 'secret'))
    return { revision: modified, memo: null }
  }

  async function create(name: string, value: string, leaving: boolean): Promise<Written> {
    const json = [{ name, value, scopes: destination.scopes }]
    const { body } = await call(api, { method: 'POST', url, json }, [value]).catch((error: unknown) => {
      if (!(error instanceof ProviderError) || error.reason !== 'failed') throw error
      if (leaving) throw new ProviderError('exists', 'a secret of this name is still being deleted', deletionMs)
      throw /already_exists/.test(error.message) ? new ProviderError('exists', error.message) : error
    })
    const made = listOf(objectOf(body, 'result').result, 'secrets').map(secretOf)
    return { revision: made.find((secret) => secret.name === name)?.modified ?? null, memo: null }
  }
}

function secretOf({ id, name, scopes, modified, status }: Record<string, unknown>): Secret {
  return {
    id: encodeURIComponent(String(id)),
    name: String(name),
    scopes: Array.isArray(scopes) ? scopes.map(String) : [],
    modified: String(modified),
    deleted: status === 'deleted',
  }
}

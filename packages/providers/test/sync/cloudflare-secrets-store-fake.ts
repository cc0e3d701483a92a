import { type FakeAnswer, fields, holds, isText, isTextList, listOf, routedFake } from '../http-fake.ts'
import { edgeFailure, edgeOk, edgeRules } from './cloudflare-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From Cloudflare’s OpenAPI document (Secrets Store): a page of secrets, an array to create, 202 for a deletion that is
// done later. The name of a secret that is being deleted is still in use.

export const connection = platformSamples['edge-secrets-store']
const store = `/client/v4/accounts/${connection.config.accountId}/secrets_store/stores/store1/secrets`
const allScopes = ['workers', 'ai_gateway', 'dex', 'access', 'containers', 'websearch']

interface Stored {
  id: string
  name: string
  value: string
  scopes: string[]
  status: 'active' | 'deleted'
  changes: number
}

export async function storeFake() {
  let secrets: Stored[] = []
  let made = 0
  const active = () => secrets.filter(({ status }) => status === 'active')
  const shown = ({ value: _value, changes, ...rest }: Stored) => ({
    ...rest,
    store_id: 'store1',
    created: '2026-01-01T00:00:00Z',
    modified: new Date(changes * 1000).toISOString(),
  })
  const add = (name: string, value: string, scopes: string[]) => {
    made++
    const secret: Stored = { id: `secret${made}`, name, value, scopes, status: 'active', changes: made }
    secrets.push(secret)
    return secret
  }
  const areScopes = (value: unknown) =>
    isTextList(value) && (value as string[]).length > 0 && (value as string[]).every((each) => allScopes.includes(each))
  const isValue = (value: unknown) => typeof value === 'string' && Buffer.byteLength(value) <= 65_536

  const server = await routedFake((control) => {
    const rules = edgeRules(connection.credential, { missing: 1001, refused: 1002 })
    function create([row]: { name: string; value: string; scopes: string[] }[]): FakeAnswer {
      if (row === undefined) return edgeFailure(400, 1002, 'empty list')
      if (!/^[A-Za-z0-9_-]+$/.test(row.name)) return edgeFailure(400, 1002, 'invalid_secret_name')
      if (control.isRefused(row.name)) return edgeFailure(400, 1002, 'maximum_secrets_exceeded')
      if (secrets.some(({ name }) => name === row.name)) return edgeFailure(409, 1002, 'secret_name_already_exists')
      return edgeOk([shown(add(row.name, row.value, row.scopes))])
    }
    const one = (id: string | undefined) => active().find((secret) => secret.id === id)
    return {
      ...rules,
      routes: [
        {
          method: 'GET',
          path: new RegExp(`^${store}$`),
          query: ['page', 'per_page'],
          answer({ query }) {
            const [page, size] = [Number(query.get('page')), Number(query.get('per_page'))]
            if (!(page >= 1 && size >= 5 && size <= 100)) return edgeFailure(400, 1003, 'invalid page')
            const rows = secrets.slice((page - 1) * size, page * size)
            const total = { page, per_page: size, count: rows.length, total_count: secrets.length }
            return edgeOk(rows.map(shown), { result_info: { ...total, total_pages: Math.ceil(secrets.length / size) } })
          },
        },
        {
          method: 'POST',
          path: new RegExp(`^${store}$`),
          writes: true,
          body: (json) =>
            listOf(holds({ name: isText, value: isValue, scopes: areScopes, 'comment?': isText }))(json)
              ? null
              : 'wrong secrets',
          answer: ({ json }) => create(json as { name: string; value: string; scopes: string[] }[]),
        },
        {
          method: 'PATCH',
          path: new RegExp(`^${store}/([^/]+)$`),
          writes: true,
          body: fields({ 'value?': isValue, 'scopes?': areScopes, 'comment?': isText }),
          answer({ params: [id], json }) {
            const secret = one(id)
            if (!secret) return edgeFailure(404, 1001, 'secret_not_found')
            made++
            Object.assign(secret, json, { changes: made })
            return edgeOk(shown(secret))
          },
        },
        {
          method: 'DELETE',
          path: new RegExp(`^${store}/([^/]+)$`),
          writes: true,
          answer({ params: [id] }) {
            const secret = one(id)
            if (!secret) return edgeFailure(404, 1001, 'secret_not_found')
            secret.status = 'deleted'
            return edgeOk(null, {}, 202)
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
      secrets = []
    },
    values: () => new Map(active().map(({ name, value }) => [name, value])),
    put(name: string, value: string) {
      secrets = secrets.filter((secret) => secret.name !== name)
      add(name, value, ['workers'])
    },
    scopesOf: (name: string) => active().find((secret) => secret.name === name)?.scopes,
  }
}

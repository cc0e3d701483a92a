import { type FakeRoute, fields, isText, routedFake } from '../http-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From the types from which Render’s own client is generated: variables of a service come in pages, those of a group
// all at once. An error has a message. Empty values are refused.

export const service = platformSamples['app-platform-b']
export const group = {
  ...service,
  destination: { provider: 'app-platform-b' as const, kind: 'env-group' as const, envGroupId: 'evg-shop' },
}

export async function renderFake(connection: typeof service | typeof group) {
  let variables = new Map<string, string>()
  const isService = connection.destination.kind === 'service'
  const place = isService ? '/v1/services/srv-shop' : '/v1/env-groups/evg-shop'
  const all = () => [...variables].map(([key, value]) => ({ key, value }))
  const shownGroup = () => ({ id: 'evg-shop', name: 'shop', ownerId: 'own', envVars: all(), secretFiles: [] })

  const server = await routedFake((control) => {
    const refuse = (status: number, message: string) => ({
      status: status === 422 ? 400 : status,
      ...(status === 429 ? { headers: { 'retry-after': '20', 'ratelimit-reset': '20' } } : {}),
      body: { id: 'err-1', message },
    })
    const lists: FakeRoute[] = isService
      ? [
          {
            method: 'GET',
            path: new RegExp(`^${place}/env-vars$`),
            query: ['limit', 'cursor'],
            answer({ query }) {
              const start = Number(query.get('cursor') ?? 0)
              const rows = all().slice(start, start + Math.min(100, Number(query.get('limit') ?? 20)))
              return { status: 200, body: rows.map((envVar, index) => ({ envVar, cursor: String(start + index + 1) })) }
            },
          },
        ]
      : [{ method: 'GET', path: new RegExp(`^${place}$`), answer: () => ({ status: 200, body: shownGroup() }) }]
    return {
      headers: { authorization: `Bearer ${connection.credential}`, accept: 'application/json' },
      refuse,
      routes: [
        ...lists,
        {
          method: 'PUT',
          path: new RegExp(`^${place}/env-vars/([^/]+)$`),
          writes: true,
          body: fields({ value: (value) => isText(value) && value !== '' }),
          answer({ params: [key = ''], json }) {
            if (control.isRefused(key)) return refuse(400, 'invalid key')
            const { value } = json as { value: string }
            variables.set(key, value)
            return { status: 200, body: isService ? { key, value } : shownGroup() }
          },
        },
        {
          method: 'DELETE',
          path: new RegExp(`^${place}/env-vars/([^/]+)$`),
          writes: true,
          answer: ({ params: [key = ''] }) =>
            variables.delete(key) ? { status: 204 } : refuse(404, 'no such environment variable'),
        },
      ],
    }
  })
  return {
    ...server,
    connection,
    reset() {
      server.reset()
      variables = new Map()
    },
    values: () => variables,
    put: (name: string, value: string) => variables.set(name, value),
  }
}

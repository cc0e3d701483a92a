import { fields, holds, isText, mapOf, routedFake } from '../http-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From the names and types in Northflank’s API reference. It is not documented whether a PATCH adds or replaces, so the
// fake can do either. Without `show=this` it also shows variables of linked addons.

export const connection = platformSamples['app-platform-d']

export async function northflankFake(patch: 'replaces' | 'adds' = 'replaces') {
  let variables: Record<string, string> = {}
  let readable = true

  const server = await routedFake((control) => {
    const refuse = (status: number, message: string) => ({
      status: status === 422 ? 400 : status,
      ...(status === 429 ? { headers: { 'x-ratelimit-reset': '1800' } } : {}),
      body: { error: { status, message } },
    })
    const path = /^\/v1\/projects\/shop\/secrets\/shop-secrets$/
    const shown = (own: boolean) => ({
      id: 'shop-secrets',
      type: 'secret',
      secrets: readable ? { variables: own ? variables : { ...variables, DB_HOST: 'of-an-addon' }, files: {} } : {},
    })
    return {
      headers: { authorization: `Bearer ${connection.credential}` },
      refuse,
      routes: [
        {
          method: 'GET',
          path,
          query: ['show'],
          answer: ({ query }) => ({ status: 200, body: { data: shown(query.get('show') === 'this') } }),
        },
        {
          method: 'PATCH',
          path,
          writes: true,
          body: fields({ secrets: holds({ variables: mapOf(isText) }) }),
          answer({ json }) {
            const given = (json as { secrets: { variables: Record<string, string> } }).secrets.variables
            if (Object.keys(given).some((name) => control.isRefused(name) || !/^[a-zA-Z0-9_./-]*$/.test(name)))
              return refuse(400, 'invalid variables')
            variables = patch === 'adds' ? { ...variables, ...given } : given
            return { status: 200, body: { data: shown(true) } }
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
      variables = {}
      readable = true
    },
    values: () => new Map(Object.entries(variables)),
    put(name: string, value: string) {
      variables = { ...variables, [name]: value }
    },
    hide() {
      readable = false
    },
  }
}

import { isText, mapOf, routedFake } from '../http-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From Heroku’s hyper-schema (config vars) and its reference: the version is in `Accept`, null removes a name, and one
// name that cannot be stored makes Heroku refuse all names.

export const connection = platformSamples['app-platform-f']
export const appId = '01234567-89ab-4def-8123-456789abcdef'

export async function herokuFake() {
  let vars = new Map<string, string>()
  let releases = 0
  const apps = [appId]

  const server = await routedFake((control) => {
    const refuse = (status: number, message: string) => ({
      status,
      body: {
        id: status === 404 ? 'not_found' : status === 429 ? 'rate_limit' : 'invalid_params',
        message,
        url: 'https://x',
      },
    })
    // An app can be named by its name and by its id.
    const path = new RegExp(`^/apps/(?:shop|${appId})/config-vars$`)
    return {
      headers: {
        authorization: `Bearer ${connection.credential}`,
        accept: 'application/vnd.heroku+json; version=3',
      },
      refuse,
      routes: [
        {
          method: 'GET',
          path: new RegExp(`^/apps/(?:shop|${appId})$`),
          answer: () => ({ status: 200, body: { id: apps.at(-1), name: 'shop' } }),
        },
        { method: 'GET', path, answer: () => ({ status: 200, body: Object.fromEntries(vars) }) },
        {
          method: 'PATCH',
          path,
          writes: true,
          body: (json) => (mapOf((value) => value === null || isText(value))(json) ? null : 'no map of texts'),
          answer({ json }) {
            const given = Object.entries(json as Record<string, string | null>)
            if (given.some(([name]) => !/^\w+$/.test(name) || control.isRefused(name)))
              return refuse(422, 'Unable to modify an addon-owned config var')
            const next = new Map(vars)
            for (const [name, value] of given)
              if (value === null) next.delete(name)
              else next.set(name, value)
            const bytes = [...next].flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
            if (bytes > 65_536) return refuse(422, 'Config vars are too large')
            vars = next
            releases++
            return { status: 200, body: Object.fromEntries(vars) }
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
      vars = new Map()
      releases = 0
      apps.length = 1
    },
    values: () => vars,
    put: (name: string, value: string) => vars.set(name, value),
    releases: () => releases,
    /** From now on, the name belongs to another app. */
    rename: (otherId: string) => void apps.push(otherId),
  }
}

import { type FakeAnswer, fields, isText, mapOf, routedFake } from '../http-fake.ts'
import { edgeFailure, edgeOk, edgeRules } from './cloudflare-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From Cloudflare’s OpenAPI document (worker script secrets, secret-patch-request) and the codes that its own client
// knows.

export const connection = platformSamples['edge-workers']
const script = `/client/v4/accounts/${connection.config.accountId}/workers/scripts/${connection.destination.scriptName}`

type Patch = Record<string, { name: string; text: string; type: string } | null>

export async function workersFake() {
  const secrets = new Map<string, string>()
  const keys = new Set<string>()
  let newestIsDeployed = true
  const shown = () => [
    ...[...secrets.keys()].map((name) => ({ name, type: 'secret_text' })),
    ...[...keys].map((name) => ({ name, type: 'secret_key', algorithm: {}, format: 'raw', usages: ['sign'] })),
  ]

  const isValue = (text: unknown) => typeof text === 'string' && Buffer.byteLength(text) <= 5120
  const isSecret = (value: unknown) =>
    value === null || fields({ name: isText, text: isValue, type: (type) => type === 'secret_text' })(value) === null

  const server = await routedFake((control) => {
    const rules = edgeRules(connection.credential, { missing: 10007, refused: 10053 })
    function store(patch: Patch): FakeAnswer {
      if (!newestIsDeployed) return edgeFailure(400, 10215, 'the latest version is not deployed')
      if (Object.keys(patch).length > 100) return edgeFailure(400, 10021, 'too many secrets')
      for (const [name, secret] of Object.entries(patch)) {
        if (secret === null && !secrets.has(name)) return edgeFailure(404, 10056, 'Binding not found')
        if (secret !== null && secret.name !== name) return edgeFailure(400, 10021, 'the names differ')
        // A binding of another kind already has this name.
        if (control.isRefused(name)) return rules.refuse(422, `Binding name ${name} already in use`)
      }
      for (const [name, secret] of Object.entries(patch))
        if (secret === null) secrets.delete(name)
        else secrets.set(name, secret.text)
      return edgeOk(Object.fromEntries(shown().map((secret) => [secret.name, secret])))
    }
    return {
      ...rules,
      routes: [
        { method: 'GET', path: new RegExp(`^${script}/secrets$`), answer: () => edgeOk(shown()) },
        {
          method: 'PATCH',
          path: new RegExp(`^${script}/secrets-bulk$`),
          writes: true,
          contentType: 'application/merge-patch+json',
          body: fields({ secrets: mapOf(isSecret) }),
          answer: ({ json }) => store((json as { secrets: Patch }).secrets),
        },
      ],
    }
  })
  return {
    ...server,
    connection,
    reset() {
      server.reset()
      secrets.clear()
      keys.clear()
      newestIsDeployed = true
    },
    values: () => secrets,
    put: (name: string, value: string) => secrets.set(name, value),
    keys,
    holdBack() {
      newestIsDeployed = false
    },
  }
}

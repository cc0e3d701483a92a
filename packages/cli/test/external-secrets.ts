import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'

// The webhook provider of the External Secrets Operator, as its documentation and its source describe it: it fills the
// templates of the store, sends one request for each reference, and evaluates the JSONPath of the result.

// biome-ignore lint/suspicious/noExplicitAny: manifests have many shapes
type Manifest = any

const folder = fileURLToPath(new URL('../../../integrations/kubernetes', import.meta.url))
/** The certificate of the tests has this name. */
const tls = { ca: readFileSync(new URL('../../server/test/tls/ca.pem', import.meta.url)), servername: 'target.test' }

/** Reads one object from a file of `integrations/kubernetes`: two files have a Deployment of the same name. */
export const manifestOf = (kind: string, name: string, file = 'external-secrets.yaml'): Manifest => {
  const documents = parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((one) => one.toJS())
  const found = documents.find((one) => one.kind === kind && one.metadata.name === name)
  if (!found) throw new Error(`${file} has no ${kind} ${name}`)
  return found
}

/** The error that the operator reads as "this secret was deleted". */
export class NoSecretError extends Error {}

interface Operator {
  /** The port of `skerry serve` on this machine. The cluster would send to the Service of the URL instead. */
  port: number
  /** The content of the Secret that the store names. */
  token: string
}

/** Returns one value: `data` of an ExternalSecret. */
export async function getSecret(store: string, key: string, operator: Operator): Promise<string> {
  const { webhook } = manifestOf('SecretStore', store).spec.provider
  const found = evaluate(webhook.result.jsonPath, JSON.parse(await fetchData(webhook, key, operator)))
  return typeof found === 'string' ? found : JSON.stringify(found)
}

/** Returns a map of values: `dataFrom` of an ExternalSecret. */
export async function getSecretMap(store: string, key: string, operator: Operator): Promise<Record<string, string>> {
  const { webhook } = manifestOf('SecretStore', store).spec.provider
  const found = evaluate(webhook.result.jsonPath, JSON.parse(await fetchData(webhook, key, operator)))
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw new Error('wrong type')
  return found as Record<string, string>
}

async function fetchData(webhook: Manifest, key: string, { port, token }: Operator): Promise<string> {
  const [secret] = webhook.secrets
  const data = { remoteRef: { key }, [secret.name]: { [secret.secretRef.key]: token } }
  const url = new URL(fill(webhook.url, data, encodeURIComponent))
  const named = Object.entries<string>(webhook.headers).map(([name, text]) => [name, fill(text, data, String)])
  const headers = { ...Object.fromEntries(named), host: url.host, 'user-agent': 'Go-http-client/1.1' }
  const { status, text } = await get(port, url.pathname + url.search, headers)
  if (status === 404) throw new NoSecretError()
  if (status < 200 || status >= 300) throw new Error(`endpoint gave error ${status}`)
  return text
}

/** Fills `{{ .remoteRef.key }}` and `{{ .caller.token | trim }}`: the part of Go's templates that the manifests use. */
const fill = (template: string, data: Record<string, Record<string, string>>, encode: (text: string) => string) =>
  template.replace(/\{\{ \.(\w+)\.(\w+)( \| trim)? \}\}/g, (_, of: string, name: string, trim?: string) => {
    const text = data[of]?.[name]
    if (text === undefined) throw new Error(`the template has no .${of}.${name}`)
    return encode(trim ? text.trim() : text)
  })

/** `$` and `$.name`: the part of JSONPath that the manifests use. */
function evaluate(path: string, json: Record<string, unknown>): unknown {
  if (path === '$') return json
  const [, name] = /^\$\.(\w+)$/.exec(path) ?? []
  if (name === undefined || !Object.hasOwn(json, name)) throw new Error(`unknown key ${name}`)
  return json[name]
}

function get(port: number, path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, ...tls, agent: false }, async (answer) => {
      let text = ''
      for await (const chunk of answer.setEncoding('utf8')) text += chunk
      resolve({ status: answer.statusCode!, text })
    })
    sent.on('error', reject).end()
  })
}

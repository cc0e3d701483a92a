import type { IncomingMessage } from 'node:http'
import { isNamed, pairs, requestHeaders, valuesOf } from '@skerry/proxy/headers'
import { pass } from '@skerry/proxy/response'
import { upstreamFailure } from '@skerry/proxy/upstream'
import type { Provider } from '../config/config.ts'
import { hostOf, portOf } from '../config/values.ts'
import type { Executor } from '../executor.ts'
import { fail, isOurs, refusalOf } from '../http/refusal.ts'
import type { Call } from '../http/server.ts'
import { type Permitted, permit } from './permit.ts'
import { place } from './place.ts'
import { readWanted, type Wanted } from './request.ts'

/** The value of a credential, with the name of its placeholder. */
interface Credential {
  name: 'API_KEY' | 'ACCESS_TOKEN'
  value: string
}

/**
 * Sends a request of the backend to a provider, with the credential of one person in it. The answer is streamed back,
 * without the credential where the provider repeats it.
 */
export async function providerFetch(executor: Executor, { body, response, signal }: Call): Promise<null> {
  const { userRef, connectionId, request } = readWanted(body)
  const connection = await executor.credentials.connectionOf(connectionId, userRef)
  const permitted = permit(executor.config, connection.providerId, request)
  let credential = await credentialOf(executor, permitted.provider, connectionId)
  let answer = await send(executor, request, credential, permitted, signal)
  // A single 401 proves little. The provider did not act on the request, so it is sent again, with a new token if there
  // is one.
  if (answer.statusCode === 401) {
    answer.resume()
    if (credential.name === 'ACCESS_TOKEN') {
      const value = await executor.refresher.accessToken(connectionId, credential.value)
      credential = { ...credential, value }
    }
    answer = await send(executor, request, credential, permitted, signal)
  }
  if (isRedirect(answer)) {
    answer.destroy()
    throw fail(
      'not_allowed',
      'the provider answered with a redirect to another address, where the credential is not sent',
    )
  }
  if (answer.statusCode === 401) await report(executor, connectionId)
  answer.rawHeaders = pairs(answer.rawHeaders)
    .filter(([name]) => !isOurs(name))
    .flat()
  const deps = { config: { redaction }, secrets: { all: () => [] }, warn: executor.warn }
  const asked = { host: hostOf(request.url), method: request.method }
  const [accepted] = valuesOf(request.headers, 'accept-encoding')
  await pass(deps, answer, response, spellings(credential), asked, accepted)
  return null
}

const redaction = {
  enabled: true,
  scan: 'injected',
  placeholder: '[redacted by skerry]',
  minLength: 6,
  encodings: null,
  unsearchable: 'refuse',
} as const

/** Providers that read the bytes of a header as Latin-1 repeat non-ASCII characters as other characters. */
const spellings = ({ name, value }: Credential) =>
  [...new Set([value, Buffer.from(value).toString('latin1')])].map((one) => ({ name, value: one }))

async function credentialOf(
  { credentials, refresher }: Executor,
  { method }: Provider,
  connectionId: string,
): Promise<Credential> {
  if (method === 'oauth2') return { name: 'ACCESS_TOKEN', value: await refresher.accessToken(connectionId) }
  return { name: 'API_KEY', value: (await credentials.open(connectionId, 'api_key')).text }
}

/** The backend gets the answer even if the server is unreachable. The next refused use is then reported. */
async function report({ refresher, warn }: Executor, connectionId: string): Promise<void> {
  try {
    await refresher.report(connectionId, 'provider_rejected_credential')
  } catch (error) {
    warn(
      `${connectionId}: the provider refused the credential, but this could not be reported to the server: ${refusalOf(error).message}`,
    )
  }
}

async function send(
  { upstreams }: Executor,
  { method, url, headers, body }: Wanted,
  { name, value }: Credential,
  { provider, checkName }: Permitted,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const give = (wanted: string) => {
    checkName(wanted)
    if (wanted !== name) throw fail('not_allowed', `the connection has no ${wanted}`)
    return value
  }
  const target = url.pathname + url.search
  // The answer is searched for the credential, so an uncompressed answer is requested.
  const kept = requestHeaders(headers).filter(([one]) => !isNamed(one, 'accept-encoding'))
  const filled = place({ target, headers: kept, body }, provider, name, give)
  const to = { protocol: url.protocol as 'http:' | 'https:', host: hostOf(url), port: portOf(url), isTrusted: false }
  const length = filled.body === null ? [] : [['Content-Length', String(filled.body.length)] as [string, string]]
  const sending = {
    method,
    target,
    headers: [...filled.headers, ['Accept-Encoding', 'identity'] as [string, string], ...length],
    body: filled.body,
  }
  try {
    return await upstreams.send(to, sending, signal)
  } catch (error) {
    throw upstreamFailure(error)
  }
}

const isRedirect = ({ statusCode, headers }: IncomingMessage): boolean =>
  [301, 302, 303, 307, 308].includes(statusCode ?? 0) || (statusCode === 300 && headers.location !== undefined)

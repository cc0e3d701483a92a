import type { IncomingMessage } from 'node:http'
import { requestHeaders } from '@skerry/proxy/headers'
import { fill } from '@skerry/proxy/placeholders'
import { pass } from '@skerry/proxy/response'
import { upstreamFailure } from '@skerry/proxy/upstream'
import type { Provider } from '../config/config.ts'
import { hostOf, portOf } from '../config/values.ts'
import type { Executor } from '../executor.ts'
import { fail } from '../http/refusal.ts'
import type { Call } from '../http/server.ts'
import { permit } from './permit.ts'
import { readWanted, type Wanted } from './request.ts'

/** The value that goes out, by the name of its placeholder. */
interface Credential {
  name: 'API_KEY' | 'ACCESS_TOKEN'
  value: string
}

/**
 * Sends a request of the backend to a provider, with the credential of one person in it. The answer is streamed back, with
 * the credential taken out wherever the provider repeats it.
 */
export async function providerFetch(executor: Executor, { body, response, signal }: Call): Promise<null> {
  const { userRef, connectionId, request } = readWanted(body)
  const connection = await executor.credentials.connectionOf(connectionId, userRef)
  const provider = executor.config.providers.find(({ id }) => id === connection.providerId)
  const { checkName } = permit(provider, request)
  let credential = await credentialOf(executor, provider!, connectionId)
  let answer = await send(executor, request, credential, checkName, signal)
  if (answer.statusCode === 401 && credential.name === 'ACCESS_TOKEN') {
    answer.resume()
    const value = await executor.refresher.accessToken(connectionId, credential.value)
    credential = { ...credential, value }
    answer = await send(executor, request, credential, checkName, signal)
  }
  if (isRedirect(answer)) {
    answer.destroy()
    throw fail('not_allowed', 'the provider redirects elsewhere, and a credential does not follow')
  }
  if (answer.statusCode === 401) await executor.refresher.report(connectionId, 'provider_rejected_credential')
  const means = { config: { redaction }, secrets: { all: () => [] }, warn: executor.warn }
  await pass(means, answer, response, [credential], { host: hostOf(request.url) })
  return null
}

const redaction = {
  enabled: true,
  scan: 'injected',
  placeholder: '[redacted by skerry]',
  minLength: 6,
  encodings: null,
} as const

async function credentialOf(
  { credentials, refresher }: Executor,
  { method }: Provider,
  connectionId: string,
): Promise<Credential> {
  if (method === 'oauth2') return { name: 'ACCESS_TOKEN', value: await refresher.accessToken(connectionId) }
  return { name: 'API_KEY', value: (await credentials.open(connectionId, 'api_key')).text }
}

async function send(
  { upstreams }: Executor,
  { method, url, headers, body }: Wanted,
  { name, value }: Credential,
  checkName: (name: string) => void,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const give = (wanted: string) => {
    checkName(wanted)
    if (wanted !== name) throw fail('not_allowed', `the connection has no ${wanted}`)
    return value
  }
  const target = url.pathname + url.search
  const filled = fill({ target, headers: requestHeaders(headers), body }, give)
  const to = { protocol: url.protocol as 'http:' | 'https:', host: hostOf(url), port: portOf(url), isTrusted: false }
  const length = filled.body === null ? [] : [['Content-Length', String(filled.body.length)] as [string, string]]
  // What comes back is looked into, so it is best not packed.
  const kept = filled.headers.filter(([one]) => one.toLowerCase() !== 'accept-encoding')
  const sending = {
    method,
    target,
    headers: [...kept, ['Accept-Encoding', 'identity'] as [string, string], ...length],
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

import type { Operation } from '@skerry/contract/endpoint'
import type { ErrorCode } from '@skerry/contract/errors'
import { operations } from '@skerry/contract/operations.gen'
import { type Client, createClient } from '@skerry/sdk/client'
import { RefusedError } from '@skerry/sdk/errors'
import { stepUpPrompt } from './prompts.ts'
import { session } from './session.ts'
import { signing } from './trust/signed.ts'

/**
 * Adds the session's bearer token to each request. This is the only place that does, and it sends to this origin only.
 */
const client = createClient({
  baseUrl: location.origin,
  userAgent: 'skerry-dashboard',
  fetch: (url, init) => {
    const headers = new Headers(init.headers)
    const token = session.token()
    if (token) headers.set('authorization', `Bearer ${token}`)
    return fetch(url, { ...init, headers })
  },
})

/**
 * The whole API, for pages. A signer's changes are signed. If the session has expired, it is renewed and the request is repeated once. If a request
 * needs a fresh second factor, a dialog asks for it, and the request is then repeated.
 *
 * @example const { apps } = await api.apps.list({ params: { orgId } }, { signal })
 */
export const api: Client = signing(withRetries(client))

type LooseCall = (...args: unknown[]) => Promise<unknown>

function withRetries(inner: Client): Client {
  const headings = Object.entries(operations).map(([heading, table]) => {
    const calls = Object.entries(table).map(([name, operation]) => {
      // The client is built from the same table, so each name exists. TypeScript cannot infer this through two loops.
      const call = inner[heading as keyof typeof operations][name as never] as LooseCall
      return [name, (...args: unknown[]) => send(operation, () => call(...args))]
    })
    return [heading, Object.fromEntries(calls)]
  })
  const stream: Client['stream'] = async (heading, name, ...rest) => {
    const operation = (operations[heading] as Record<string, Operation>)[name as string] as Operation
    return (await send(operation, () => inner.stream(heading, name, ...rest))) as AsyncGenerator<Uint8Array>
  }
  return { ...Object.fromEntries(headings), baseUrl: inner.baseUrl, request: inner.request, stream }
}

async function send(operation: Operation, call: () => Promise<unknown>): Promise<unknown> {
  if (operation.surface === 'none') return call()
  await session.fresh()
  const used = session.token()
  return call()
    .catch(async (error) => {
      if (isRefusal(error, 'unauthorized') && (await session.renew(used))) return call()
      throw error
    })
    .catch(async (error) => {
      if (!isRefusal(error, 'mfa_required')) throw error
      await stepUpPrompt.ask()
      return call()
    })
}

const isRefusal = (error: unknown, code: ErrorCode) => error instanceof RefusedError && error.code === code

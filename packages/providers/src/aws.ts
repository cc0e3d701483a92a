import type { STSClientConfig } from '@aws-sdk/client-sts'
import type { Outbound, OutboundAnswer, OutboundRequest } from './outbound.ts'

// What the clients of all AWS services here have in common.

type Handler = NonNullable<STSClientConfig['requestHandler']>

/** What the SDK asks for instead of its own HTTP client. */
export function handlerOn(outbound: Outbound, timeoutMs: number): Handler {
  return {
    async handle(request: HttpRequest) {
      const { protocol, hostname, port, path, query = {} } = request
      const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`)
      for (const [name, value] of Object.entries(query)) url.searchParams.append(name, String(value))
      // The HTTP client sets both itself, to the same values.
      const { host: _, 'content-length': __, ...headers } = request.headers
      const { method, body } = request
      const answer: OutboundAnswer = await outbound.send({
        method,
        url: url.href,
        headers,
        ...(body === undefined ? {} : { body }),
        timeoutMs,
      })
      return { response: { statusCode: answer.status, headers: { ...answer.headers }, body: answer.body } }
    },
  } as unknown as Handler
}

interface HttpRequest extends Pick<OutboundRequest, 'method' | 'body'> {
  protocol: string
  hostname: string
  port?: number
  path: string
  query?: Record<string, unknown>
  headers: Record<string, string>
}

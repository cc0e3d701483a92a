import type { STSClientConfig } from '@aws-sdk/client-sts'
import type { Outbound, OutboundAnswer, OutboundRequest } from './outbound.ts'

// Code that the clients of all AWS services here share.

type Handler = NonNullable<STSClientConfig['requestHandler']>

/** The request handler that the AWS SDK uses instead of its own HTTP client. */
export function handlerOn(outbound: Outbound, timeoutMs: number): Handler {
  return {
    async handle(request: HttpRequest) {
      const { protocol, hostname, port, path, query = {} } = request
      const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`)
      for (const [name, value] of Object.entries(query)) url.searchParams.append(name, String(value))
      // The HTTP client behind `outbound` sets both headers itself, to the same values.
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

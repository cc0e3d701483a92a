import type { IncomingMessage } from 'node:http'
import type { Fetch, FetchAnswer } from '@skerry/sdk/internal/transport'

/**
 * The part of `fetch` that the SDK needs, over Node's HTTP client. Loading the global `fetch` takes about as long as
 * the start of Node itself. An import of `node:http` would load it too, so this code gets the module without an import.
 * It follows no redirect and requests no compression. With NODE_USE_ENV_PROXY it uses the proxy of the environment, as
 * `fetch` does.
 */
export const fetchOverHttp: Fetch = async (url, { method = 'GET', headers, body, signal }) => {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(new Error('no answer', { cause: error }))
    const length = typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body)) } : {}
    const options = {
      method,
      headers: { ...(headers as Record<string, string>), ...length },
      ...(signal ? { signal } : {}),
    }
    const sent = request(url, options, (answer) => resolve(answerOf(answer)))
    sent.on('error', fail)
    sent.end(body)
  })
}

function answerOf(answer: IncomingMessage): FetchAnswer {
  const { statusCode: status = 0, headers } = answer
  return {
    status,
    ok: status >= 200 && status < 300,
    type: 'basic',
    headers: { get: (name) => headers[name]?.toString() ?? null },
    body: bodyOf(answer),
  }
}

function bodyOf(answer: IncomingMessage): FetchAnswer['body'] {
  const chunks: AsyncIterator<Buffer> = answer[Symbol.asyncIterator]()
  const cancel = async () => void answer.destroy()
  const read = async () => {
    const { done, value } = await chunks.next()
    return done ? ({ done: true, value: undefined } as const) : ({ done: false, value } as const)
  }
  return { cancel, getReader: () => ({ read, cancel }) }
}

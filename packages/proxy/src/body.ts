import type { IncomingMessage } from 'node:http'
import { badRequest, Refusal } from './refusal.ts'

/** Whether a request announces a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/**
 * Reads the whole body, because a placeholder may be anywhere in it, also across two chunks.
 *
 * @param status of the refusal of a body that is too large.
 * @param hint what that refusal says besides.
 */
export async function readBody(request: IncomingMessage, bytesMax: number, status: number, hint = ''): Promise<Buffer> {
  const tooLarge = () => new Refusal(status, 'body_too_large', `the body is larger than ${bytesMax} bytes${hint}`)
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    // Leaving the loop must not end the connection, because the refusal is sent on it.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bytesMax) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof Refusal ? error : badRequest('the body ended too early')
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

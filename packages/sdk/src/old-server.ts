import type { Operation } from '@skerry/contract/endpoint'
import { operations } from '@skerry/contract/operations.gen'
import { clientError, SkerryError } from './errors.ts'
import { send, type TransportSettings } from './transport.ts'

/** The longest API description that is read. */
const documentMaxBytes = 16 * 1024 * 1024
const versionTimeoutMs = 5000

/** Whether a server refused an operation because it has no such path. Every release uses this message. */
export const isUnknownPath = (error: unknown): error is SkerryError =>
  error instanceof SkerryError && error.status === 404 && error.code === 'not_found' && error.message === 'no such path'

/** Turns the refusal of an unknown path into an error that names the server's version and the missing operation. */
export async function explainUnknownPath(error: unknown, transport: TransportSettings, operation: Operation) {
  if (!isUnknownPath(error)) return error
  const { status, requestId } = error
  const version = await fetchServerVersion(transport)
  const server = version === undefined ? 'it' : `version ${version}`
  return clientError('old_server', `${server} does not have ${nameOf(operation)}`, { status, requestId })
}

/** The server's description of its API names its version. It needs no credential, so none is sent. */
async function fetchServerVersion(transport: TransportSettings): Promise<string | undefined> {
  const settings = { ...transport, attempts: 1, timeoutMs: versionTimeoutMs, answerMaxBytes: documentMaxBytes }
  try {
    const { text } = await send(settings, { method: 'GET', path: '/openapi.json', headers: {} })
    const version: unknown = JSON.parse(text).info?.version
    return typeof version === 'string' && /^[\w.+-]{1,64}$/.test(version) ? version : undefined
  } catch {
    return undefined
  }
}

function nameOf(wanted: Operation): string {
  for (const [heading, table] of Object.entries(operations))
    for (const [name, operation] of Object.entries(table)) if (operation === wanted) return `${heading}.${name}`
  return 'this operation'
}

import type { TokenFormat } from '@skerry/crypto/token'
import type { Client } from '../client.ts'
import { clientError } from '../errors.ts'
import { type ParsedBody, parseResolveBody, type ResolveQuery } from '../resolve-body.ts'
import type { DirectorySettings } from './memory.ts'
import { type DirectoryReader, openDirectoryReader } from './reader.ts'

interface LayersSettings {
  directory: DirectorySettings
  query: ResolveQuery
  /** Null for a person. */
  token: { id: string; format: TokenFormat } | null
  now?: () => number
  warn?: (message: string) => void
}

/**
 * Resolves an environment, and verifies its id and its layers against the signed directory, if this client trusts one. It
 * opens no key, so that nobody is asked for a passphrase.
 *
 * @throws the errors of `Skerry.resolve`, without those of keys and values.
 * @example
 * const directory = { pins: [remembered], name: 'shop/production' }
 * const { layers } = await resolveLayers(client, { directory, query: { env: envId, with: [] }, token: null })
 */
export async function resolveLayers(client: Client, settings: LayersSettings): Promise<ParsedBody> {
  const { directory, query, token, now = Date.now, warn = () => {} } = settings
  const { with: groups, ...named } = query
  const reader = openDirectoryReader({ settings: directory, query, client, token, now, warn })
  const fetchText = async (asked: Awaited<ReturnType<DirectoryReader['ask']>>): Promise<string> => {
    const input = { ...named, ...asked?.query, ...(groups.length === 0 ? {} : { with: groups }) }
    const received = await client.request('resolve', 'get', { query: input }).catch((error) => {
      throw asked ? reader.explain(error, asked) : error
    })
    if (received.status !== 304) return received.text
    throw clientError('malformed_answer', 'it is 304, and the request had no ETag')
  }
  let asked = await reader.ask()
  let text = await fetchText(asked)
  if (await reader.mustAskAgain(text, asked)) {
    asked = await reader.ask()
    text = await fetchText(asked)
  }
  const body = parseResolveBody(text, query)
  return asked ? reader.proveLayers(body, asked) : body
}

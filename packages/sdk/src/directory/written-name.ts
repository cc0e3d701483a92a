import type { Client } from '../client.ts'
import { invalid } from '../errors.ts'
import { mismatch } from './answer.ts'
import { fetchEntries, type OrgTrust } from './entries.ts'
import type { WriterDirectory } from './writer.ts'

/**
 * The name of the environment that somebody writes to: the given one, or the one that the signed entry of their token has.
 *
 * @throws SkerryError `invalid_request` without a name and without a token; DirectoryError `directory_mismatch` for a token
 *   without an environment; the errors of `fetchEntries`.
 */
export async function writtenName(
  client: Client,
  orgId: string,
  { name, token }: WriterDirectory,
  trust: OrgTrust,
): Promise<string> {
  if (name !== undefined) return name
  if (!token) throw invalid('directory.name: say which environment you write to, as app/env')
  const key = `token/${token.id}` as const
  const { verified, get } = await fetchEntries(client, orgId, [key], trust)
  const bound = get(key)?.value.environment
  if (bound) return bound
  throw mismatch(verified, `${key} with the environment that it is bound to`, bound === null ? 'none' : 'no entry')
}

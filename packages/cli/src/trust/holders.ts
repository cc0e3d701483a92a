import { fetchEntries } from '@skerry/sdk/internal/directory/entries'
import type { Session } from '../session.ts'
import { trustOf } from './reading.ts'

/**
 * The name of a person or a token in the signed directory: the e-mail address, or the name of the token. Undefined without
 * an entry, and for a token that asks about anybody else.
 */
export async function signedHolderName(session: Session, orgId: string, id: string): Promise<string | undefined> {
  const key = id.startsWith('usr_') ? (`person/${id}` as const) : (`token/${id}` as const)
  const entry = (await fetchEntries(session.client, orgId, [key], trustOf(session, orgId, 'read'))).get(key)
  const { email, name } = (entry?.value ?? {}) as { email?: string; name?: string }
  return email ?? name
}

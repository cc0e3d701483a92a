import { timingSafeEqual } from 'node:crypto'
import { idPattern } from '@skerry/contract/prefixes'
import type { Sql } from '../db/database.ts'
import { sha256 } from '../kernel/context.ts'
import { fail } from '../kernel/errors.ts'
import type { MachinePrincipal } from '../kernel/principal.ts'
import { findMachineClient } from './store.ts'

export interface ClientCredentials {
  clientId: string
  clientSecret: string
}

const clientId = new RegExp(idPattern('machineClient'))

/** Finds the machine client of these credentials. An unknown id costs the same comparison as a wrong secret. */
export async function machineClient(
  db: Sql,
  { clientId: id, clientSecret }: ClientCredentials,
): Promise<MachinePrincipal> {
  const client = clientId.test(id) ? await findMachineClient(db, id) : undefined
  const expected = Buffer.from(client?.secretHash ?? sha256(''))
  const matches = timingSafeEqual(expected, Buffer.from(sha256(clientSecret)))
  if (!client || !matches) throw fail('unauthorized', 'unknown client credentials')
  return { type: 'm2m', id, orgId: client.orgId }
}

/**
 * Reads Basic credentials. By RFC 6749 section 2.3.1 both parts are form-encoded before they are joined. Ours need no
 * encoding, but libraries may still encode characters.
 */
export function basicCredentials(encoded: string): ClientCredentials {
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon < 0) throw fail('unauthorized', 'Authorization: Basic takes client id and secret')
  return { clientId: formDecoded(text.slice(0, colon)), clientSecret: formDecoded(text.slice(colon + 1)) }
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw fail('unauthorized', 'Authorization: Basic takes client id and secret in form encoding')
  }
}

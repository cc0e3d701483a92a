import { idPrefixes } from '@skerry/contract/prefixes'
import { Failure, usage } from './failure.ts'
import { mustVerifyIn } from './known-directories.ts'
import { findPin } from './known-keys.ts'
import { note } from './output.ts'
import { isPinnedToAnother, isSameName } from './pins.ts'
import { canAsk } from './prompt.ts'
import type { Session } from './session.ts'
import type { Confirmable } from './settings.ts'

// For the name of a person or a token, the server finds the id. Commands that change or end a person or a token compare its
// answer with the signed directory, and with the keys that this machine knows.

/** The address of a person or the name of a token as a signer signed it; undefined if nobody did. */
export async function signedNameOf(session: Session, orgId: string, id: string): Promise<string | undefined> {
  if (!mustVerifyIn(session, orgId)) return undefined
  return (await import('./trust/holders.ts')).signedHolderName(session, orgId, id)
}

/**
 * Checks the person or the token whom the user named, for a command that ends something. Only the server knows display names,
 * so a person whom the user names by one is shown by e-mail address, and a script may not name anybody so.
 *
 * @param shown the address or the name that the server shows.
 * @returns the address or the name for the question, from the signed directory or the memory of this machine if they have it.
 */
export async function namedHolder(
  session: Session,
  { orgId, id, shown }: { orgId: string; id: string; shown: string },
  wanted: string,
  { yes }: Confirmable,
): Promise<string> {
  const known = findPin(session, orgId, id)?.name
  const label = (await signedNameOf(session, orgId, id)) ?? (known === undefined || known === id ? shown : known)
  const isDisplayName = id.startsWith(idPrefixes.user) && wanted !== id && !wanted.includes('@')
  if (!isDisplayName) await checkHolder(session, orgId, id, wanted)
  else if (yes || !canAsk())
    throw usage(`${wanted} is a display name, which anybody may have`, `name the person by e-mail address: ${label}`)
  else note(`${wanted} is ${label}`)
  return label
}

/**
 * Refuses another person or token than the one that the user named. The signed directory decides. Without an entry, the
 * memory of this machine decides.
 *
 * @param wanted the e-mail address, the name, or the id that the user typed.
 */
export async function checkHolder(session: Session, orgId: string, id: string, wanted: string): Promise<void> {
  if (wanted === id) return
  const signed = await signedNameOf(session, orgId, id)
  if (signed !== undefined) {
    if (!isSameName(id, signed, wanted)) throw otherSigned(id, wanted, signed)
    return
  }
  const known = findPin(session, orgId, id)?.name
  if (known !== undefined && known !== id && !isSameName(id, known, wanted))
    throw refused(`this machine knows ${id} as ${known}, not as ${wanted}`, id)
  if (isPinnedToAnother(session, orgId, wanted, id)) throw refused(`${wanted} is another one than before`, id)
}

const otherSigned = (id: string, wanted: string, signed: string): Failure =>
  refused(`you named ${wanted}, and the signed directory says that ${id} is ${signed}`, id)

const refused = (what: string, id: string): Failure =>
  new Failure(
    'refused',
    `${what}; nothing was changed`,
    `if someone on your team did this, use the id ${id}. Otherwise do not trust the server`,
  )

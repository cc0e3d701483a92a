import { findPin } from './known-keys.ts'
import { note, type Output } from './output.ts'
import { type PinnedGrantee, pinAnew, pinState, wordsOf } from './pins.ts'
import { confirmOrRefuse } from './prompt.ts'
import type { Session } from './session.ts'
import type { Confirmable } from './settings.ts'
import { notedTime } from './times.ts'

/**
 * Remembers the key that the server shows for one of its own readers, the rotator or a sync connection. The operator
 * replaces these keys after the server key was lost or leaked.
 */
export async function acceptServerReader(
  session: Session,
  reader: PinnedGrantee,
  label: string,
  flags: Confirmable,
): Promise<Output> {
  const { id: orgId } = await session.org()
  const { principalId, publicKeyJwk } = reader
  const words = await wordsOf(publicKeyJwk)
  const known = findPin(session, orgId, principalId)
  if (pinState(session, orgId, reader) === 'pinned') note(`the key of ${label} has not changed: ${words}`)
  else {
    if (known) note(`known since ${notedTime(known.pinnedAt)}: ${await wordsOf(known.publicKeyJwk)}`)
    note(`shown by the server now: ${words}`)
    await confirmOrRefuse(
      `accepts the key of ${label}. Ask the operator of the server first if they replaced it`,
      flags,
    )
    pinAnew(session, orgId, reader)
    note(`the key of ${label} is known now`)
  }
  return { json: { principalId, publicKeyJwk, fingerprint: words } }
}

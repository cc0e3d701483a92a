import { Failure } from '../failure.ts'
import { note, warn } from '../output.ts'
import { findPin, pin, pinState } from '../pins.ts'
import type { Session } from '../session.ts'

// The recovery key is the server's word, as every public key is. A server that could put its own in its place would be given
// the key of each new environment, so the one that was seen first is the one to expect.

const grantee = (publicKeyJwk: string) => ({ principalId: 'recovery', name: 'the recovery key', publicKeyJwk })

export async function wordsOf(publicKeyJwk: string): Promise<string> {
  const { fingerprintWords } = await import('@skerry/crypto/fingerprint-words')
  return fingerprintWords(publicKeyJwk)
}

/** What a new environment, or one with a new key, is made with: nothing where the organization has no recovery. */
export async function withRecovery(session: Session): Promise<{ recoveryPublicKeyJwk?: string }> {
  const { id: orgId } = await session.org()
  const { recoveryPublicKeyJwk } = await session.client.recovery.publicKey({ params: { orgId } })
  if (recoveryPublicKeyJwk !== null)
    return { recoveryPublicKeyJwk: await checkRecoveryKey(session, recoveryPublicKeyJwk) }
  if (findPin(session, orgId, 'recovery'))
    warn('this organization had a recovery key, and shows none now: what is made here, custodians cannot recover')
  return {}
}

/** The key, if it is the one that was seen before; the first is remembered, and its words are shown. */
export async function checkRecoveryKey(session: Session, publicKeyJwk: string): Promise<string> {
  const { id: orgId } = await session.org()
  const state = pinState(session, orgId, grantee(publicKeyJwk))
  if (state === 'changed') {
    const known = findPin(session, orgId, 'recovery')!
    note(`known since ${known.pinnedAt}: ${await wordsOf(known.publicKeyJwk)}`)
    note(`shown by the server now: ${await wordsOf(publicKeyJwk)}`)
    throw new Failure(
      'refused',
      'the recovery key of this organization is another than before; nothing was changed',
      'ask the person who rotated it for the words of `skerry recovery status`, then run `skerry recovery trust`',
    )
  }
  if (state === 'new') {
    pin(session, orgId, grantee(publicKeyJwk))
    note('first recovery key of this organization on this machine; compare its words with the admin who set it up:')
    note(`  ${await wordsOf(publicKeyJwk)}`)
  }
  return publicKeyJwk
}

/** The key that was made here, or whose words a person has compared. */
export async function keepRecoveryKey(session: Session, publicKeyJwk: string): Promise<void> {
  const { id: orgId } = await session.org()
  pin(session, orgId, grantee(publicKeyJwk))
}

export async function isKnown(session: Session, publicKeyJwk: string): Promise<boolean> {
  const { id: orgId } = await session.org()
  return pinState(session, orgId, grantee(publicKeyJwk)) === 'pinned'
}

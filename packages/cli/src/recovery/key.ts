import { Failure } from '../failure.ts'
import { isStrict } from '../history.ts'
import { noteReaders, type Shared, unknownReaders } from '../known-readers.ts'
import { note, warn } from '../output.ts'
import { findPin, pin, pinState, wordsOf } from '../pins.ts'
import { ask, canAsk } from '../prompt.ts'
import type { ReaderFlags } from '../readers.ts'
import type { Session } from '../session.ts'

// The recovery key is the server's word, as every public key is. A server that could put its own in its place would be given
// the key of each new environment. So the key that was seen first is the one to expect, and nothing is wrapped to it before
// a person has accepted it.

/** What `--reader` calls the recovery key. */
const readerName = 'recovery'

const grantee = (publicKeyJwk: string) => ({ principalId: readerName, name: 'the recovery key', publicKeyJwk })

const shared = (orgId: string): Shared => ({ orgId, id: readerName })

/** What a new environment, or one with a new key, is made with: nothing where the organization has no recovery. */
export async function withRecovery(session: Session, flags: ReaderFlags): Promise<{ recoveryPublicKeyJwk?: string }> {
  const { id: orgId } = await session.org()
  const { recoveryPublicKeyJwk } = await session.client.recovery.publicKey({ params: { orgId } })
  if (recoveryPublicKeyJwk !== null)
    return { recoveryPublicKeyJwk: await acceptRecoveryKey(session, recoveryPublicKeyJwk, flags) }
  if (findPin(session, orgId, readerName))
    warn('this organization had a recovery key, and shows none now: what is made here, custodians cannot recover')
  return {}
}

/** To be called before something is wrapped to the recovery key: at its first sight a person accepts it, or `--reader`. */
export async function acceptRecoveryKey(session: Session, publicKeyJwk: string, flags: ReaderFlags): Promise<string> {
  await compareRecoveryKey(session, publicKeyJwk)
  if (await isAccepted(session, publicKeyJwk)) return publicKeyJwk
  note(
    'the recovery key of this organization is new to this machine; its custodians together could read what you make:',
  )
  note(`  ${await wordsOf(publicKeyJwk)}`)
  note('compare these words with the admin who set recovery up')
  if (!flags.reader?.includes(readerName)) await confirmRecoveryKey()
  await keepRecoveryKey(session, publicKeyJwk)
  return publicKeyJwk
}

async function confirmRecoveryKey(): Promise<void> {
  if (isStrict() || !canAsk())
    throw new Failure(
      'refused',
      'the recovery key of this organization is new to this machine; nothing was changed',
      `once its words were compared, run again with --reader ${readerName}, or run \`skerry recovery trust\``,
    )
  if (!(await ask('give new keys to this recovery key?'))) throw new Failure('failure', 'nothing was changed')
}

/**
 * The key, if it is the one that was seen before; the first is remembered, and its words are shown. For commands that check
 * shares with it: to wrap something to it takes `acceptRecoveryKey`.
 */
export async function checkRecoveryKey(session: Session, publicKeyJwk: string): Promise<string> {
  const { id: orgId } = await session.org()
  if ((await compareRecoveryKey(session, publicKeyJwk)) === 'new') {
    pin(session, orgId, grantee(publicKeyJwk))
    note('first recovery key of this organization on this machine; compare its words with the admin who set it up:')
    note(`  ${await wordsOf(publicKeyJwk)}`)
  }
  return publicKeyJwk
}

/** Refuses another key than the one that was seen before. */
async function compareRecoveryKey(session: Session, publicKeyJwk: string): Promise<'new' | 'pinned'> {
  const { id: orgId } = await session.org()
  const state = pinState(session, orgId, grantee(publicKeyJwk))
  if (state !== 'changed') return state
  const known = findPin(session, orgId, readerName)!
  note(`known since ${known.pinnedAt}: ${await wordsOf(known.publicKeyJwk)}`)
  note(`shown by the server now: ${await wordsOf(publicKeyJwk)}`)
  throw new Failure(
    'refused',
    'the recovery key of this organization is another than before; nothing was changed',
    'ask the person who rotated it for the words of `skerry recovery status`, then run `skerry recovery trust`',
  )
}

/** The key that was made here, or whose words a person has compared. */
export async function keepRecoveryKey(session: Session, publicKeyJwk: string): Promise<void> {
  const { id: orgId } = await session.org()
  pin(session, orgId, grantee(publicKeyJwk))
  await noteReaders(session, shared(orgId), [grantee(publicKeyJwk)])
}

/** Whether a person has accepted this key on this machine, or it was made here. */
export async function isAccepted(session: Session, publicKeyJwk: string): Promise<boolean> {
  const { id: orgId } = await session.org()
  return (await unknownReaders(session, shared(orgId), [grantee(publicKeyJwk)])).length === 0
}

/** Whether it is the key that this machine has seen. */
export async function isKnown(session: Session, publicKeyJwk: string): Promise<boolean> {
  const { id: orgId } = await session.org()
  return pinState(session, orgId, grantee(publicKeyJwk)) === 'pinned'
}

import { Failure } from '../failure.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { findPin } from '../known-keys.ts'
import { noteReaders, type Shared, unknownReaders } from '../known-readers.ts'
import { isStrict } from '../known-state.ts'
import { note, warn } from '../output.ts'
import { pin, pinState, wordsOf } from '../pins.ts'
import { ask, canAsk } from '../prompt.ts'
import type { Session } from '../session.ts'
import { noteShown, requireAsShown } from '../shown-keys.ts'
import { notedTime } from '../times.ts'

// The server reports the recovery key, as it does every public key. A malicious server could show its own key and so
// receive the key of each new environment. If this machine knows the signed directory, only the recovery key that its root
// names counts. Otherwise this module remembers the first recovery key, and wraps nothing to a recovery key before a
// person has accepted it.

/** The value of `--reader` that names the recovery key. */
export const recoveryName = 'recovery'

const grantee = (publicKeyJwk: string) => ({ principalId: recoveryName, name: 'the recovery key', publicKeyJwk })

const shared = (orgId: string): Shared => ({ orgId, id: recoveryName })

/**
 * The recovery key for a new environment or a new key of one. Empty if the organization has no recovery, and if nobody has
 * signed the recovery key in the directory that this machine knows.
 *
 * @param flags `--reader`, which may name the recovery key.
 */
export async function withRecovery(
  session: Session,
  { reader = [] }: { reader?: string[] },
): Promise<{ recoveryPublicKeyJwk?: string }> {
  const { id: orgId } = await session.org()
  const { recoveryPublicKeyJwk: shown } = await session.client.recovery.publicKey({ params: { orgId } })
  const chosen = mustVerifyIn(session, orgId)
    ? await (await import('../trust/recovery-key.ts')).chooseSignedKey(
        session,
        orgId,
        shown,
        reader.includes(recoveryName),
      )
    : shown
  if (chosen !== null) return { recoveryPublicKeyJwk: chosen }
  if (shown === null && findPin(session, orgId, recoveryName))
    warn(
      'this organization had a recovery key before, but the server shows none now: custodians cannot recover what you create',
    )
  return {}
}

/** Says who can read what was created with this recovery key and is not granted to anybody yet. */
export const readersAtFirst = (
  { recoveryPublicKeyJwk }: { recoveryPublicKeyJwk?: string },
  { who = 'this credential', what = 'it' } = {},
) =>
  recoveryPublicKeyJwk === undefined
    ? `only ${who} can read ${what} until you grant others`
    : `only ${who}, and the recovery custodians together, can read ${what} until you grant others`

/**
 * Call it before something is wrapped to the recovery key. If this machine knows the signed directory, its root must name
 * the key, and nobody is asked. Otherwise a person must accept a key that is new to this machine, or `--reader` names it.
 *
 * @returns whether the key is new; `keepRecoveryKey` then remembers it.
 */
export async function confirmRecoveryKey(session: Session, publicKeyJwk: string, isNamed: boolean): Promise<boolean> {
  const { id: orgId } = await session.org()
  if (mustVerifyIn(session, orgId)) {
    await (await import('../trust/recovery-key.ts')).requireSignedKey(session, orgId, publicKeyJwk)
    const isKnown = pinState(session, orgId, grantee(publicKeyJwk)) === 'pinned'
    return !(isKnown && (await isAccepted(session, publicKeyJwk)))
  }
  await compareRecoveryKey(session, publicKeyJwk)
  if (await isAccepted(session, publicKeyJwk)) return false
  note('the custodians of this recovery key together could read what you make:')
  note(`  ${await wordsOf(publicKeyJwk)}`)
  note('compare these words with the admin who set recovery up')
  if (isNamed) {
    requireAsShown(session, orgId, [grantee(publicKeyJwk)])
    return true
  }
  if (isStrict() || !canAsk()) {
    noteShown(session, orgId, [grantee(publicKeyJwk)])
    throw new Failure(
      'refused',
      'this organization’s recovery key was not accepted on this machine yet; nothing was changed',
      `compare its words with the admin who set recovery up, then run again with --reader ${recoveryName}`,
    )
  }
  if (!(await ask('give new keys to this recovery key?'))) throw new Failure('failure', 'nothing was changed')
  return true
}

/**
 * Returns the key if it is the one seen before. It remembers the first key and shows its words. Use it to check shares;
 * before something is wrapped to the key, use `confirmRecoveryKey`.
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
  const known = findPin(session, orgId, recoveryName)!
  note(`known since ${notedTime(known.pinnedAt)}: ${await wordsOf(known.publicKeyJwk)}`)
  note(`shown by the server now: ${await wordsOf(publicKeyJwk)}`)
  throw new Failure(
    'refused',
    'this organization has a different recovery key than before; nothing was changed',
    'ask the person who rotated it for the words of `skerry recovery status`, then run `skerry recovery trust`',
  )
}

/** Remembers a key that was made here, or whose words a person has compared. */
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

/**
 * Says how this machine knows a recovery key: not at all, or as another one. Empty for the known key, and for the signed one
 * if this machine knows the directory.
 */
export async function doubtAbout(session: Session, publicKeyJwk: string): Promise<string> {
  const { id: orgId } = await session.org()
  if (mustVerifyIn(session, orgId))
    return (await import('../trust/recovery-key.ts')).signedDoubt(session, orgId, publicKeyJwk)
  const state = pinState(session, orgId, grantee(publicKeyJwk))
  if (state === 'new') return 'new to this machine'
  return state === 'changed' ? 'not the one that is known here' : ''
}

import { idPrefixes } from '@skerry/contract/prefixes'
import {
  checkSignedReaders,
  type Receiver as DirectoryReceiver,
  type Listing,
  listReceivers,
} from '@skerry/sdk/internal/directory/receivers'
import { Failure } from '../failure.ts'
import { committedLabel } from '../known-directories.ts'
import { findPin } from '../known-keys.ts'
import { shellWord } from '../labels.ts'
import type { Session } from '../session.ts'
import { isSigner } from './open.ts'
import { trustOf } from './reading.ts'

// In an organization whose directory this machine knows, a key is wrapped to nobody whom the directory does not list.

/** A person, a token or a worker to whom a key would be wrapped, as the server shows it. */
interface Receiver extends DirectoryReceiver {
  name: string | null
}

/**
 * Refuses a receiver whom the signed directory does not list with this key, or lists under another name than the user
 * wrote.
 *
 * @returns the ids of the receivers whom the directory vouches for. Nobody needs to compare their words. A worker that has
 *   no entry yet is not among them: its first use signs it. Nor is, for a signer, a person or a token without an entry.
 */
export async function requireListed(
  session: Session,
  orgId: string,
  grantees: readonly Receiver[],
): Promise<ReadonlySet<string>> {
  const { listings } = await listReceivers(session.client, orgId, grantees, trustOf(session, orgId, 'write'))
  const vouched = new Set<string>()
  for (const listing of listings) {
    const { receiver, state, isWorker } = listing
    if (state === 'listed') vouched.add(receiver.principalId)
    else if (state !== 'unlisted') throw refusalOf(listing)
    // The first use of a worker signs it. A name that the user wrote is never the name of a worker.
    else if (isWorker && receiver.wantedName === undefined) continue
    // A signer who compares the words of the key signs the entry together with the change.
    else if (isWorker || !(await isSigner(session, orgId))) throw refusalOf(listing)
    else if (findPin(session, orgId, receiver.principalId)?.wasListed) throw hasEnded(receiver)
  }
  return vouched
}

function refusalOf({ receiver, state, name }: Listing<Receiver>): Failure {
  if (state === 'unlisted') return notListed(receiver, 'is not in the signed directory')
  if (state === 'other_key')
    return notListed({ ...receiver, name: name ?? receiver.name }, 'has another key in the signed directory')
  return notListed(
    receiver,
    `is ${name === undefined ? 'a worker without a name' : `called ${name}`} in the signed directory, not ${receiver.wantedName}`,
  )
}

function labelOf({ name, wantedName, principalId }: Receiver): string {
  const called = wantedName ?? name
  return called === null || called === principalId ? principalId : `${called} (${principalId})`
}

/** The refusal of a receiver whose key this machine knows, and whose entry a signer has ended since. */
function hasEnded(receiver: Receiver): Failure {
  const name = receiver.wantedName ?? receiver.name ?? receiver.principalId
  return new Failure(
    'refused',
    `${labelOf(receiver)} was in the signed directory, and is there no longer; nothing was changed`,
    receiver.principalId.startsWith(idPrefixes.user)
      ? `if somebody on your team added this person again, compare the words, and run \`skerry members trust ${shellWord(name)}\``
      : 'a token that was revoked never comes back: do not use this server, unless a signer ended it by mistake and runs `skerry trust sign`',
  )
}

function notListed(receiver: Receiver, why: string): Failure {
  return new Failure(
    'refused',
    `${labelOf(receiver)}, shown by the server, ${why}; nothing was changed`,
    'if someone on your team added this reader, a signer compares the words and runs `skerry trust sign`',
  )
}

/**
 * Refuses the readers of an environment that the server lists, unless they are those that a signer signed.
 *
 * @returns false if the directory says nothing about the readers of this key, such as those of a branch.
 */
export async function requireSignedReaders(
  session: Session,
  { orgId, id, readers }: { orgId: string; id: string; readers: readonly Receiver[] },
): Promise<boolean> {
  const name = committedLabel(id)
  if (name === undefined) return false
  const trust = trustOf(session, orgId, 'write')
  const check = await checkSignedReaders(session.client, { orgId, name, readers }, trust)
  if (check.state === 'signed') {
    // The hash of the readers may still have somebody whose entry has ended, and whom a signer would accept as a new one.
    const { listings } = await listReceivers(session.client, orgId, readers, trust)
    const gone = listings.find(({ state }) => state !== 'listed')
    if (gone) throw refusalOf(gone)
    return true
  }
  if (check.state === 'stranger') throw notListed(check.reader, `is no reader of ${name} in the signed directory`)
  throw new Failure(
    'refused',
    `the readers of ${name}, shown by the server, are not those in the signed directory; nothing was changed`,
    'see the difference with `skerry trust status`; if someone on your team made it, a signer runs `skerry trust sign`',
  )
}

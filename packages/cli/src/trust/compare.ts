import { compareClaims, type Difference } from '@skerry/sdk/internal/directory/differences'
import { fetchClaims, type SignedDirectory } from '@skerry/sdk/internal/directory/open'
import { type EntryNames, entryNames } from '@skerry/sdk/internal/directory/words'
import type { Session } from '../session.ts'
import { keyOpener } from './key-opener.ts'
import { openKnown } from './open.ts'
import { type ComparedRecovery, compareRecovery } from './recovery-key.ts'
import { noKeys, type OpenedKeys } from './remembered.ts'

/** The verified directory beside the claims of the server. */
export interface Compared {
  directory: SignedDirectory
  differences: Difference[]
  recovery: ComparedRecovery
  nameOf: EntryNames
  opened: OpenedKeys
}

/** Verifies the directory, and compares every entry and the recovery key with what the server claims. */
export async function compareAll(
  session: Session,
  orgId: string,
  open: (session: Session, orgId: string) => Promise<SignedDirectory> = openKnown,
): Promise<Compared> {
  const directory = await open(session, orgId)
  const claims = await fetchClaims(session.client, orgId)
  const opened = noKeys()
  const differences = await compareClaims(directory.entries, claims, keyOpener(session, orgId, opened))
  const recovery = await compareRecovery(session, orgId, directory.root.body)
  return { directory, differences, recovery, nameOf: entryNames(directory, claims), opened }
}

/** A difference that the caller cannot sign has a key that the caller does not hold. */
export const isClosed = ({ next }: Difference): boolean => next === undefined

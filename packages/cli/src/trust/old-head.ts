import type { HeadBody } from '@skerry/crypto/directory/head'
import type { SignedDirectory } from '@skerry/sdk/internal/directory/open'
import { Failure } from '../failure.ts'
import { note } from '../output.ts'
import { ask, canAsk } from '../prompt.ts'
import type { Session } from '../session.ts'
import { notedTime } from '../times.ts'
import { openKnown } from './open.ts'

// A server can hide newer heads from a machine, and show one that is older. Other machines refuse a head of more than 14 days
// when they write, but a signer must be able to renew it: the new head is dated today, so every machine would accept it.

/** `--old-head`: the version of the old head that a script continues. */
export interface OldHeadFlags {
  oldHead?: string
}

/** Clients that write refuse an older head. */
const freshSeconds = 14 * 86_400

/**
 * Opens the directory for a command that signs it. A person must accept a head that is more than 14 days old, or `--old-head`
 * names its version; `--yes` does not accept it.
 */
export async function openToSign(session: Session, orgId: string, flags: OldHeadFlags): Promise<SignedDirectory> {
  const directory = await openKnown(session, orgId, { acceptOld: true })
  await acceptOldHead(directory.head.body, flags)
  return directory
}

async function acceptOldHead({ version, issuedAt }: HeadBody, { oldHead }: OldHeadFlags): Promise<void> {
  if (oldHead === String(version) || Date.now() / 1000 - issuedAt <= freshSeconds) return
  const time = notedTime(new Date(issuedAt * 1000).toISOString())
  note(`the newest head that the server shows is head ${version}, signed at ${time}`)
  note(
    'a server can hide newer changes, such as the removal of a person. Ask another signer for their `skerry trust status`',
  )
  if (oldHead !== undefined || !canAsk())
    throw new Failure(
      'refused',
      `head ${version} is more than 14 days old; nothing was signed`,
      `if nobody has signed since then, run again with \`--old-head ${version}\``,
    )
  if (!(await ask(`is head ${version} the newest one that anybody has signed?`)))
    throw new Failure('failure', 'nothing was signed', 'ask another signer for the output of `skerry trust status`')
}

import { Failure } from '../failure.ts'
import { ask, canAsk } from '../prompt.ts'
import { isAccepted, keepRecoveryKey } from '../recovery/key.ts'
import type { Session } from '../session.ts'

/**
 * Lets a person accept the recovery key that is about to be signed, unless this machine knows that its words were compared.
 * `--yes` does not accept it.
 *
 * @returns a function that remembers the accepted key.
 */
export async function acceptRecovery(
  session: Session,
  publicKeyJwk: string | null,
): Promise<(() => Promise<void>) | undefined> {
  if (publicKeyJwk === null || (await isAccepted(session, publicKeyJwk))) return undefined
  if (!canAsk())
    throw new Failure(
      'refused',
      'nobody has compared the words of this recovery key on this machine; nothing was signed',
      'compare them and run `skerry recovery trust`, or run this on a terminal',
    )
  if (!(await ask('did the admin who set recovery up tell you these words?')))
    throw new Failure('failure', 'nothing was signed', 'ask the admin who set recovery up for the words first')
  return () => keepRecoveryKey(session, publicKeyJwk)
}

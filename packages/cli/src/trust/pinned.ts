import { formatPinnedToken } from '@skerry/crypto/directory/pinned-token'
import { toFailure } from '../failure.ts'
import { warn } from '../output.ts'
import type { Session } from '../session.ts'
import { openKnownDocuments } from './open.ts'

/** Appends the newest root and head to a token, and the environment that it is bound to. */
export async function withPin(
  session: Session,
  orgId: string,
  token: string,
  environment: string | null,
): Promise<string> {
  try {
    const { root, head } = await openKnownDocuments(session, orgId)
    return await formatPinnedToken(token, { root: root.hash, leastHead: head.body.version }, environment)
  } catch (error) {
    // The token exists and would be lost.
    warn(`the token has no pin: ${toFailure(error).message}`)
    return token
  }
}

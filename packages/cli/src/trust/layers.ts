import { resolveLayers } from '@skerry/sdk/internal/directory/layers'
import type { ParsedBody } from '@skerry/sdk/internal/resolve-body'
import { toResolveQuery } from '@skerry/sdk/internal/resolve-body'
import { warn } from '../output.ts'
import { openToken, type Session } from '../session.ts'
import { directorySettings } from './reading.ts'

/**
 * Resolves an environment, and verifies its layers against the signed directory. It opens no key.
 *
 * @param name `app/env` or `app/env@branch`; undefined if the token alone determines the environment.
 */
export async function resolveSigned(
  session: Session,
  asked: Parameters<typeof toResolveQuery>[0],
  name: string | undefined,
): Promise<ParsedBody> {
  const settings = await directorySettings(session, name)
  const directory = { ...settings, name: name ?? session.pinned?.environment ?? undefined }
  return resolveLayers(session.client, { directory, query: toResolveQuery(asked), token: await tokenOf(session), warn })
}

/** The token of the session; null for a person. */
export async function tokenOf({ principal, reader }: Session) {
  if (principal.type === 'user') return null
  const opened = await reader()
  const { tokenId: id, format } = await openToken('token' in opened ? opened.token : opened.bearer)
  return { id, format }
}

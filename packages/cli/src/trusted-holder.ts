import type { RememberingHolder } from '@skerry/sdk/secrets'
import { mustVerifyIn } from './known-directories.ts'
import type { Session } from './session.ts'

/**
 * The private key of the session, which opens only the signed key of this environment if the machine knows the signed
 * directory. A branch has no entry, so its manifest is verified with the signed key of its parent.
 *
 * @param purpose `read` accepts a head that is up to 30 days old, `write` one that is up to 14 days old.
 */
export async function trustedHolder(
  session: Session,
  { orgId, label }: { orgId: string; label: string },
  purpose: 'read' | 'write',
): Promise<RememberingHolder> {
  const holder = await session.key()
  if (!mustVerifyIn(session, orgId)) return holder
  const [{ directorySettings }, { tokenOf }] = await Promise.all([
    import('./trust/reading.ts'),
    import('./trust/layers.ts'),
  ])
  const [settings, token] = await Promise.all([directorySettings(session, label), tokenOf(session)])
  return { ...holder, directory: { ...settings, token: token ?? undefined, purpose } }
}

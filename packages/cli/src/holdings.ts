import { note, warn } from './output.ts'
import { listPlaces } from './places.ts'
import type { Session } from './session.ts'

/**
 * Lists the environments whose key a principal has, such as `web/production`. Call it before the grants are deleted.
 */
async function heldBy(session: Session, principalId: string): Promise<string[]> {
  const { id: orgId } = await session.org()
  const held: string[] = []
  for (const { envId, label } of await listPlaces(session)) {
    const { grants } = await session.client.grants.list({ params: { orgId, envId } })
    if (grants.some((grant) => grant.principalId === principalId)) held.push(label)
  }
  return held
}

/** Like `heldBy`, but undefined if the list fails, because that must not stop a command that ends somebody's access. */
export const heldByIfKnown = (session: Session, principalId: string): Promise<string[] | undefined> =>
  heldBy(session, principalId).catch(() => undefined)

/** After somebody's access has ended, says which keys they may have kept, and which commands replace these. */
export function hintRekey(who: string, held: string[] | undefined): void {
  if (held === undefined) warn(`the keys that ${who} had are not known: see \`skerry grant ls\``)
  if (held === undefined || held.length === 0) return
  note(
    `${who} had the key of ${held.join(', ')}, and may have kept a copy. Give these environments a new key, then change their values:`,
  )
  for (const label of held) note(`  skerry env rekey ${label}`)
}

import { note, warn } from './output.ts'
import { eachAtOnce } from './parallel.ts'
import { listPlaces } from './places.ts'
import { rekeySteps } from './rekey-steps.ts'
import type { Session } from './session.ts'

interface Held {
  label: string
  /** The commands that give the environment a new key. */
  steps: string[]
}

/**
 * Lists the environments whose key a principal has, such as `web/production`. Call it before the grants are deleted.
 */
async function heldBy(session: Session, principalId: string): Promise<Held[]> {
  const { id: orgId } = await session.org()
  const found = await eachAtOnce(await listPlaces(session), async ({ envId, label }) => {
    const params = { orgId, envId }
    const { grants } = await session.client.grants.list({ params })
    if (!grants.some((grant) => grant.principalId === principalId)) return undefined
    const { protection } = await session.client.protection.get({ params })
    return { label, steps: rekeySteps(label, protection) }
  })
  return found.filter((one) => one !== undefined)
}

/** Like `heldBy`, but undefined if the list fails, because that must not stop a command that ends somebody's access. */
export const heldByIfKnown = (session: Session, principalId: string): Promise<Held[] | undefined> =>
  heldBy(session, principalId).catch(() => undefined)

/** After somebody's access has ended, says which keys they may have kept, and which commands replace these. */
export function hintRekey(who: string, held: Held[] | undefined): void {
  if (held === undefined) warn(`the keys that ${who} had are not known: see \`skerry grant ls\``)
  if (held === undefined || held.length === 0) return
  const labels = held.map(({ label }) => label).join(', ')
  note(
    `${who} had the key of ${labels}, and may have kept a copy. Give these environments a new key, then change their values:`,
  )
  for (const step of held.flatMap(({ steps }) => steps)) note(`  ${step}`)
}

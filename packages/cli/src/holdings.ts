import type { audit } from '@skerry/contract/audit/endpoints'
import type { Answer, Query } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import { note, warn } from './output.ts'
import { everyRow } from './pages.ts'
import { eachAtOnce } from './parallel.ts'
import { listPlaces } from './places.ts'
import { rekeyCommand } from './rekey-steps.ts'
import type { Session } from './session.ts'
import { notedTime } from './times.ts'

type Held = Answer<typeof grants.overview>['access'][number]

/** Lists the present keys of all people and tokens, for admins. */
export async function listAccess(
  { client }: Session,
  orgId: string,
  { branches }: { branches: boolean },
): Promise<Held[]> {
  const query = branches ? { branches: 'true' as const } : {}
  return everyRow(
    (at) => client.grants.overview({ params: { orgId }, query: { ...query, ...at } }),
    ({ access }) => access,
  )
}

/** The name of an environment that somebody can read: `shop/production (until 2026-05-01 10:00)`. */
export const heldLabel = ({ label, endsAt, inForce }: Held): string => {
  const until = endsAt === null ? '' : ` (until ${notedTime(endsAt)})`
  return inForce ? `${label}${until}` : `${label} (revoked)`
}

/** The environments whose present key a principal has or had. */
export interface Holdings {
  principalId: string
  held: { label: string }[]
  /** False if the audit log could not be read, so that keys from which the principal lost access are not known. */
  hasEarlier: boolean
}

/**
 * Lists the environments whose present key a principal has, or had before: a revoked grant and a replaced key pair take
 * nothing back. Call it before the grants are deleted.
 */
async function heldBy(session: Session, principalId: string): Promise<Holdings> {
  const { id: orgId } = await session.org()
  const lost = await lostKeys(session, orgId, principalId).catch(() => undefined)
  const found = await eachAtOnce(await listPlaces(session), async ({ envId, label }) => {
    const params = { orgId, envId }
    const { grants } = await session.client.grants.list({ params })
    const has = grants.some((grant) => grant.principalId === principalId)
    if (!has && !(lost?.has(envId) && (await isStillKey(session, orgId, envId, lost.get(envId)!)))) return undefined
    return { label }
  })
  return { principalId, held: found.filter((one) => one !== undefined), hasEarlier: lost !== undefined }
}

type Entry = Answer<typeof audit.list>['entries'][number]

/**
 * Every loss of a grant has an entry: it was revoked, the key pair was replaced, or the person was removed and came
 * back. A re-key needs none, because the lost key is no longer in use.
 *
 * @returns the instant of the newest loss, by the id of the environment
 */
async function lostKeys(session: Session, orgId: string, principalId: string): Promise<Map<string, number>> {
  const entries = await Promise.all([
    everyEntry(session, orgId, { action: 'key.revoked', text: principalId }),
    everyEntry(session, orgId, { action: 'user.keys_replaced', resourceId: principalId }),
    everyEntry(session, orgId, { action: 'member.removed', resourceId: principalId }),
  ])
  const lost = new Map<string, number>()
  for (const entry of entries.flat())
    for (const envId of environmentsOf(entry, principalId))
      lost.set(envId, Math.max(lost.get(envId) ?? 0, Date.parse(entry.createdAt)))
  return lost
}

function environmentsOf({ action, metadata }: Entry, principalId: string): string[] {
  const { environmentId, environmentIds } = metadata
  if (action === 'key.revoked')
    return metadata.principalId === principalId && typeof environmentId === 'string' ? [environmentId] : []
  return Array.isArray(environmentIds) ? environmentIds.filter((id) => typeof id === 'string') : []
}

async function isStillKey({ client }: Session, orgId: string, envId: string, lostAt: number): Promise<boolean> {
  const query = { action: 'env.rekeyed', resourceId: envId, since: new Date(lostAt).toISOString(), limit: 1 }
  const { entries } = await client.audit.list({ params: { orgId }, query })
  return entries.length === 0
}

export async function everyEntry(
  { client }: Session,
  orgId: string,
  query: Query<typeof audit.list>,
): Promise<Entry[]> {
  return everyRow(
    (at) => client.audit.list({ params: { orgId }, query: { ...query, limit: 200, ...at } }),
    ({ entries }) => entries,
  )
}

/** Like `heldBy`, but undefined if the list fails, because that must not stop a command that ends somebody's access. */
export const heldByIfKnown = (session: Session, principalId: string): Promise<Holdings | undefined> =>
  heldBy(session, principalId).catch(() => undefined)

/** After somebody's access has ended, says which keys they may have kept, and which commands replace these. */
export function hintRekey({ settings }: Session, who: string, holdings: Holdings | undefined): void {
  if (holdings === undefined) {
    warn(`the keys that ${who} had are not known: see \`skerry grant ls\``)
    return
  }
  const { principalId, held, hasEarlier } = holdings
  if (!hasEarlier)
    warn(
      `the audit log could not be read, so this list lacks keys that ${who} lost earlier; an admin can look with \`skerry audit ls --action key.revoked --text ${principalId}\``,
    )
  if (held.length === 0) return
  const labels = held.map(({ label }) => label).join(', ')
  note(
    `${who} had the key of ${labels}, and may have kept a copy. Give these environments a new key, then change their values:`,
  )
  for (const { label } of held) note(`  ${rekeyCommand(label, settings.profile)}`)
}

import { leaseFacts } from '@skerry/contract/leases/facts'
import { type Lease, listLeaseTargets } from '@skerry/sdk/leases'
import type { Command } from 'commander'
import { Failure, toFailure } from '../failure.ts'
import { note, warn } from '../output.ts'
import type { Session } from '../session.ts'
import { notedTime } from '../times.ts'

// A lease still works after the principal that asked for it has lost access. Commands that end access say so, and with
// `--end-leases` they end the leases too.

export interface EndLeases {
  endLeases?: boolean
}

export const endingLeases = (command: Command) =>
  command.option('--end-leases', 'end the leases that it asked for, too; otherwise they work until they expire')

/**
 * The live leases that a principal asked for. Undefined if they cannot be listed, because access must end even then.
 */
export async function liveLeasesOf(session: Session, principalId: string): Promise<Lease[] | undefined> {
  try {
    const { id: orgId } = await session.org()
    const query = { requestedById: principalId, live: 'true' as const }
    return (await session.client.leases.list({ params: { orgId }, query })).leases
  } catch {
    return undefined
  }
}

/** The part of the confirmation question that says what happens to the leases. */
export function leasesInQuestion(leases: Lease[] | undefined, { endLeases }: EndLeases): string {
  if (leases === undefined || leases.length === 0) return ''
  const [its, them] = leases.length === 1 ? ['its lease', 'it'] : [`its ${leases.length} leases`, 'them']
  return endLeases ? ` and ends ${its}` : ` and leaves ${its} usable (--end-leases would end ${them})`
}

/**
 * Ends the leases, or says which ones still work. Call it after the access has ended, so that no lease is added
 * meanwhile. It returns the leases that still work.
 */
export async function settleLeases(
  session: Session,
  who: { id: string; label: string },
  flags: EndLeases,
): Promise<Lease[]> {
  const leases = await liveLeasesOf(session, who.id)
  if (leases === undefined) {
    warn(`the leases of ${who.label} could not be listed: see \`skerry lease ls --by ${who.id} --live\``)
    return []
  }
  if (leases.length === 0) return []
  const nameOf = await leaseNames(session)
  const revocable = leases.filter(({ provider }) => leaseFacts[provider].revocable)
  const lasting = leases.filter((lease) => !revocable.includes(lease))
  const left = flags.endLeases ? await endAll(session, revocable, nameOf) : revocable
  for (const lease of lasting) note(`${nameOf(lease)} cannot be revoked: it works until ${notedTime(lease.expiresAt)}`)
  if (flags.endLeases && left.length > 0)
    throw new Failure(
      'conflict',
      left.length === 1 ? '1 lease has not ended' : `${left.length} leases have not ended`,
      `end them with \`skerry lease revoke\``,
    )
  for (const lease of left)
    note(`${nameOf(lease)} works until ${notedTime(lease.expiresAt)}; end it with \`skerry lease revoke ${lease.id}\``)
  return [...left, ...lasting]
}

/** Returns the leases that could not be revoked, after printing a warning for each. */
async function endAll(session: Session, leases: Lease[], nameOf: (lease: Lease) => string): Promise<Lease[]> {
  const { id: orgId } = await session.org()
  const left: Lease[] = []
  for (const lease of leases) {
    try {
      const ended = (await session.client.leases.revoke({ params: { orgId, leaseId: lease.id } })).lease
      if (ended.status === 'revoking')
        warn(
          `${nameOf(lease)} could not be removed yet, and the server tries again: ${ended.lastError ?? 'no answer yet'}`,
        )
      else note(`ended ${nameOf(lease)}`)
    } catch (error) {
      warn(`${nameOf(lease)} could not be ended: ${toFailure(error).message}`)
      left.push(lease)
    }
  }
  return left
}

/** `the lease mine on db (lse_...)` */
async function leaseNames(session: Session): Promise<(lease: Lease) => string> {
  const { id: orgId } = await session.org()
  const targets = await listLeaseTargets(session.client, orgId).catch(() => [])
  const names = new Map(targets.map(({ id, name }) => [id, name]))
  return ({ id, targetId, resourceRef }) =>
    `the lease ${resourceRef ?? ''} on ${names.get(targetId ?? '') ?? 'a target'} (${id})`.replace('  ', ' ')
}

import type { MadeLease } from '@skerry/sdk/leases'
import { toFailure } from '../failure.ts'
import { note, warn } from '../output.ts'
import { type Ending, endAs, startChild } from '../run/child.ts'
import type { Masking } from '../run/masking.ts'
import type { Session } from '../session.ts'
import { notedTime } from '../times.ts'

export type Start = (file: string, argv: string[], env: Record<string, string>, masking?: Masking) => Promise<Ending>

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/**
 * Makes leases, runs a program with them, and revokes them, however the program ends. A signal before the program
 * starts, or after it ends, does not end this command before the leases are revoked. If this command is killed with
 * SIGKILL, the leases expire by themselves.
 */
export async function whileLeased(
  session: Session,
  makes: readonly (() => Promise<MadeLease>)[],
  use: (made: MadeLease[], start: Start) => Promise<Ending>,
): Promise<void> {
  let signal: NodeJS.Signals | null = null
  let isMaking = true
  const hold = (one: NodeJS.Signals) => {
    if (isMaking && signal === null) note('skerry waits until the lease exists, and then revokes it')
    signal ??= one
  }
  for (const one of ending) process.on(one, hold)
  const start: Start = async (file, argv, env, masking) => {
    isMaking = false
    return signal === null ? startChild(file, argv, env, masking).done : { code: null, signal }
  }
  const end = await withLeases(
    session,
    makes,
    () => signal !== null,
    (made) => use(made, start),
  ).finally(() => {
    for (const one of ending) process.off(one, hold)
  })
  process.exitCode = endAs(end)
}

async function withLeases<T>(
  session: Session,
  makes: readonly (() => Promise<MadeLease>)[],
  isEnding: () => boolean,
  use: (made: MadeLease[]) => Promise<T>,
) {
  const made: MadeLease[] = []
  try {
    // After a signal the program does not start, so it needs no further lease.
    for (const make of makes) if (made.length === 0 || !isEnding()) made.push(await make())
    return await use(made)
  } finally {
    for (const one of made) await revoke(session, one)
  }
}

async function revoke(session: Session, { lease }: MadeLease): Promise<void> {
  try {
    const { id: orgId } = await session.org()
    const { lease: after } = await session.client.leases.revoke({ params: { orgId, leaseId: lease.id } })
    if (after.status === 'revoking')
      warn(`lease ${lease.resourceRef ?? lease.id} could not be revoked yet; the server tries again`)
  } catch (error) {
    warn(
      `lease ${lease.resourceRef ?? lease.id} could not be revoked (${toFailure(error).message}); it ends at ${notedTime(lease.expiresAt)}`,
    )
  }
}

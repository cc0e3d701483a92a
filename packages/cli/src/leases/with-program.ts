import { rootCertificates } from 'node:tls'
import { cloudTtlDefaultMaxSeconds, leaseFacts } from '@skerry/contract/leases/facts'
import { vendorName } from '@skerry/contract/vendors'
import { type LeaseVariables, variablesOf } from '@skerry/sdk/internal/lease-variables'
import { createLease, type LeaseTarget, type MadeLease } from '@skerry/sdk/leases'
import { usage } from '../failure.ts'
import { warn } from '../output.ts'
import type { Ending } from '../run/child.ts'
import type { Session } from '../session.ts'
import { checkTarget } from './known-target.ts'
import { privateFolder } from './private-folder.ts'
import { type Start, whileLeased } from './running.ts'
import { targetOf } from './targets.ts'

/** A lease that is not made yet. */
export interface Wish {
  target: LeaseTarget
  ttlSeconds: number
  roleName?: string | undefined
}

const ttlDefaultSeconds = 3600

/** Finds the target of a lease. A lease lasts an hour, or as near to it as the target allows, if nobody asked otherwise. */
export async function wishFor(session: Session, wanted: string, askedSeconds: number | undefined): Promise<Wish> {
  const target = await targetOf(session, wanted)
  await checkTarget(session, target)
  if (target.provider === 'ssh')
    throw usage(`${target.name} signs SSH certificates`, `run \`skerry ssh ${target.name} user@host\``)
  const { min } = leaseFacts[target.provider].ttlSeconds
  const { maxTtlSeconds = cloudTtlDefaultMaxSeconds } = target.config as { maxTtlSeconds?: number }
  return { target, ttlSeconds: askedSeconds ?? Math.max(min, Math.min(ttlDefaultSeconds, maxTtlSeconds)) }
}

/** Targets of one kind set the same variables, so a program could not tell them apart. */
export function checkKinds(wishes: readonly Wish[]): void {
  for (const [provider, same] of Map.groupBy(wishes, ({ target }) => target.provider))
    if (same.length > 1)
      throw usage(
        `${same.map(({ target }) => target.name).join(' and ')} are both ${vendorName(provider)}, and set the same variables`,
        'start a program for each of them',
      )
}

export async function mint(session: Session, wish: Wish & { principals?: string[] }): Promise<MadeLease> {
  const { id: orgId } = await session.org()
  return createLease(session.client, { orgId, ...wish })
}

export const leaseVariablesOf = (made: MadeLease, target: LeaseTarget): LeaseVariables =>
  variablesOf(notSsh(made), target, rootCertificates)

function notSsh(made: MadeLease): Exclude<MadeLease, { provider: 'ssh' }> {
  if (made.provider === 'ssh') throw usage('SSH certificates need `skerry ssh`')
  return made
}

/**
 * Runs a program with the variables of leases, and revokes the leases when it ends. If several leases set a variable, such
 * as DATABASE_URL, the program gets that of the first one.
 */
export async function runLeased(
  session: Session,
  wishes: readonly Wish[],
  run: (variables: ReadonlyMap<string, string>, start: Start) => Promise<Ending>,
): Promise<void> {
  const makes = wishes.map((wish) => () => mint(session, wish))
  await whileLeased(session, makes, async (made, start) => {
    const values = new Map<string, string>()
    const givenBy = new Map<string, string>()
    const files = new Map<string, string>()
    for (const [index, one] of made.entries()) {
      const { target } = wishes[index]!
      const variables = leaseVariablesOf(one, target)
      for (const [name, value] of variables.values) {
        const first = givenBy.get(name)
        if (first !== undefined) warn(`${name} is that of ${first}, which is named before ${target.name}`)
        else {
          givenBy.set(name, target.name)
          values.set(name, value)
        }
      }
      for (const [name, text] of variables.files) files.set(name, text)
    }
    const folder = await privateFolder(files)
    const stops = made.map(({ lease }, index) => warnAtExpiry(wishes[index]!, lease.ttlSeconds))
    try {
      return await run(new Map([...values, ...Object.entries(folder.paths)]), start)
    } finally {
      for (const stop of stops) stop()
      folder.remove()
    }
  })
}

/** The longest time that a timer of Node can wait. */
const timerMaxMs = 2 ** 31 - 1

/** Warns when a lease expires, because the target then refuses the program without a reason that names the lease. */
function warnAtExpiry({ target: { name } }: Wish, ttlSeconds: number): () => void {
  const ms = ttlSeconds * 1000
  if (ms > timerMaxMs) return () => {}
  const timer = setTimeout(
    () => warn(`the lease on ${name} has expired, and the program still runs: start it again for a new lease`),
    ms,
  )
  return () => clearTimeout(timer)
}

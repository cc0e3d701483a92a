import { checkKinds, runLeased, wishFor } from '../leases/with-program.ts'
import { warn } from '../output.ts'
import { maskingOf } from './masking.ts'
import type { Prepared } from './prepare.ts'

interface Leased {
  targets: string[]
  ttlSeconds: number | undefined
  mask: boolean | undefined
}

/** Runs a program with its secrets and with leases. The variables of the leases win, because only they can be used. */
export async function runWithLeases(
  file: string,
  argv: string[],
  { session, launch }: Prepared,
  { targets, ttlSeconds, mask }: Leased,
): Promise<void> {
  const wishes = await Promise.all(targets.map((target) => wishFor(session, target, ttlSeconds)))
  checkKinds(wishes)
  await runLeased(session, wishes, (variables, start) => {
    const replaced = [...variables.keys()].filter((name) => launch.values.has(name))
    if (replaced.length > 0)
      warn(`${replaced.join(', ')} of the lease is used, and not the secret: leave it out with --except`)
    const secret = [...variables].filter(([name]) => secretNames.test(name))
    const masking = maskingOf(mask, new Map([...launch.values, ...secret]))
    return start(file, argv, { ...launch.env, ...Object.fromEntries(variables) }, masking)
  })
}

/** The variables of a lease that contain its password or token. The others are words such as a host, which a log needs. */
const secretNames = /PASSWORD|PWD|AUTH|URL|URI|TOKEN|SECRET/

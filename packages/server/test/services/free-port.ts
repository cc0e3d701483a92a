import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below what systems hand out to those who take any port (Linux from 32768): what is free there stays free. */
const first = 20_000
/** Workers choose among ports of their own: one that is free may be another’s that has not begun to listen. */
const each = 1000
const own = first + (Number(process.env.VITEST_POOL_ID ?? 0) % 12) * each

const given = new Set<number>()

/** A port of this machine's loopback that nobody has: for what must know its own before it runs, or have it once more. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(own, own + each)
    // One that was given out before may be waited for still, or be needed once more.
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}

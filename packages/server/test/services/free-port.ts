import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems assign themselves (Linux: from 32768), so that a free port stays free. */
const first = 20_000
/** Each worker has its own range, because a free port may be one on which another worker will listen soon. */
const each = 1000
const own = first + (Number(process.env.VITEST_POOL_ID ?? 0) % 12) * each

const given = new Set<number>()

/** Returns a free loopback port, for a program that must know its port before it starts, or needs it again later. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(own, own + each)
    // A port that was returned before may not be in use yet, or may be needed again.
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

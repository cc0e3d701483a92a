import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { endless, openHostileTarget } from '../../../server/test/services/hostile-target.ts'
import { until } from '../../../server/test/until.ts'
import { longMs } from '../../../server/test/wait-limits.ts'
import { residentBytesMax } from '../../src/children/messages.ts'
import { openPool, type Pool, PoolBusyError, type PoolSettings } from '../../src/children/pool.ts'
import { childFile, nothingThere } from './scene.ts'

const open: { close(): unknown }[] = []
afterEach(() => Promise.all(open.splice(0).map((one) => one.close())))

function newPool(more: Partial<PoolSettings> = {}): Pool {
  const pool = openPool({ file: childFile, environment: {}, door: {}, max: 4, maxOfOwner: 2, ...more })
  open.push(pool)
  return pool
}

/** Starts a server that answers the first bytes with these bytes or with nothing, and calls `onAnswer` afterwards. */
async function listen(hex = '', onAnswer = () => {}): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.write(Buffer.from(hex, 'hex'), onAnswer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(server)
  return (server.address() as AddressInfo).port
}

const spins = '4e0000000553'
const crashes = '4400000006ffff'
const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a child that crashes or spins fails its own job, and the next one has another child', async () => {
  const pool = newPool()
  const [crashing, spinning] = [await listen(crashes), await listen(spins)]
  const job = (port: number, answerMs?: number) => pool.use('one', (child) => nothingThere(child, port, answerMs))
  await expect(job(crashing)).rejects.toMatchObject({ reason: 'unreachable', end: 'died' })
  await expect(job(spinning, 200)).rejects.toMatchObject({ reason: 'unreachable', end: 'hung' })
  // The adapter itself gives up on a server that is only silent, and its child stays.
  await expect(job(await listen(), 2000)).rejects.not.toHaveProperty('end')
  const [pid] = pool.pids()
  await pool.use('one', async (child) => expect(child.pid).toBe(pid))
})

test('a child whose target fills its memory is ended soon after it reaches the limit', async () => {
  const target = await openHostileTarget()
  open.push(target)
  // A row of two gigabytes. The driver keeps it in buffers, which V8's own limit does not count.
  target.attack(endless(Buffer.from('447fffffff', 'hex'), Buffer.alloc(65_536)))
  const pool = newPool()
  let isOver = false
  const job = pool
    .use('one', (child) => nothingThere(child, target.port, longMs))
    .finally(() => {
      isOver = true
    })
  job.catch(() => {})
  let most = 0
  await until('the child to be ended', async () => {
    for (const pid of pool.pids()) most = Math.max(most, await residentBytes(pid))
    return isOver
  })
  await expect(job).rejects.toMatchObject({ reason: 'unreachable', end: 'swelled' })
  expect(most).toBeLessThan(3 * residentBytesMax)
})

test('a child keeps its owner for life, and an owner gets no more children than its share', async () => {
  const pool = newPool({ max: 3, maxOfOwner: 2 })
  const gate = Promise.withResolvers<void>()
  const begun: string[] = []
  const job = (owner: string) =>
    pool.use(owner, async (child) => {
      begun.push(owner)
      await gate.promise
      return child.pid
    })
  const jobs = [job('one'), job('one'), job('one'), job('two')]
  await until('the first jobs', () => begun.length === 3)
  expect(begun).toEqual(['one', 'one', 'two'])
  gate.resolve()
  const [first, second, third, other] = await Promise.all(jobs)
  expect([first, second]).toContain(third)
  expect([first, second]).not.toContain(other)
  // Three idle children are the maximum, so a third owner gets a new child and one of them ends.
  const late = await pool.use('three', async (child) => child.pid)
  expect([first, second, other]).not.toContain(late)
  expect(pool.pids()).toHaveLength(3)
})

test('a caller waits no longer for a child than it asked for, and too many waiting jobs of one owner are refused', async () => {
  const pool = newPool({ max: 1, maxOfOwner: 1, waitingMax: 1 })
  const gate = Promise.withResolvers<void>()
  const nothing = async () => {}
  const busy = pool.use('one', () => gate.promise)
  await expect(pool.use('two', nothing, 50)).rejects.toBeInstanceOf(PoolBusyError)
  await expect(pool.use('two', nothing, 0)).rejects.toBeInstanceOf(PoolBusyError)
  const waiting = pool.use('two', async () => 'served')
  await expect(pool.use('two', nothing)).rejects.toBeInstanceOf(PoolBusyError)
  gate.resolve()
  await busy
  await expect(waiting).resolves.toBe('served')
})

test('a free child goes to the owner with the fewest, even if jobs of another owner came first', async () => {
  const pool = newPool({ max: 2, maxOfOwner: 2 })
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const begun: string[] = []
  const job = (owner: string, gate: number) =>
    pool.use(owner, async () => {
      begun.push(owner)
      await gates[gate]?.promise
    })
  const jobs = [job('many', 0), job('many', 1), job('many', 2), job('many', 3), job('one', 4)]
  await until('the first jobs', () => begun.length === 2)
  gates[0]?.resolve()
  await until('the next job', () => begun.length === 3)
  expect(begun).toEqual(['many', 'many', 'one'])
  for (const { resolve } of gates) resolve()
  await Promise.all(jobs)
})

test('an owner gets none of the reserved children as its second child', async () => {
  const pool = newPool({ max: 4, maxOfOwner: 2, reserved: 1 })
  const gate = Promise.withResolvers<void>()
  const begun: string[] = []
  const job = (owner: string) =>
    pool.use(owner, async () => {
      begun.push(owner)
      await gate.promise
    })
  const jobs = ['one', 'one', 'two', 'two', 'three'].map(job)
  await until('the first jobs', () => begun.length === 4)
  expect(begun.toSorted()).toEqual(['one', 'one', 'three', 'two'])
  gate.resolve()
  await Promise.all(jobs)
})

/** Fails after this time, like the job of a target that does not answer. */
async function failAfter(ms: number): Promise<never> {
  const sinceMs = performance.now()
  await until('the time to be over', () => performance.now() - sinceMs > ms)
  throw new Error('no answer')
}

test.each([
  ['failed after it used a child for long', () => failAfter(40), 30, 1],
  ['failed soon', () => failAfter(40), longMs, 2],
  ['used a child for long and succeeded', () => failAfter(40).catch(() => {}), 30, 2],
])(
  'an owner whose job %s has the expected number of children afterwards',
  async (_, first: () => Promise<void>, slowMs, share) => {
    const pool = newPool({ max: 4, maxOfOwner: 2, slowMs })
    await pool.use('one', first).catch(() => {})
    const gate = Promise.withResolvers<void>()
    const jobs: Promise<void>[] = []
    for (let job = 0; job < share; job++) jobs.push(pool.use('one', () => gate.promise, 0))
    await expect(pool.use('one', async () => {}, 0)).rejects.toBeInstanceOf(PoolBusyError)
    await pool.use('other', async () => {}, 0)
    gate.resolve()
    await Promise.all(jobs)
  },
)

test('a free child process first serves an organization whose jobs are not slow', async () => {
  const pool = newPool({ max: 1, maxOfOwner: 1, slowMs: 30 })
  const long = Promise.withResolvers<void>()
  const begun: string[] = []
  const job = (owner: string) => pool.use(owner, async () => void begun.push(owner))
  const failing = pool.use('slow', () => long.promise)
  const jobs = [job('slow'), job('other')]
  const sinceMs = performance.now()
  await until('the job to be slow', () => performance.now() - sinceMs > 40)
  long.reject(new Error('no answer'))
  await expect(failing).rejects.toThrow('no answer')
  await Promise.all(jobs)
  expect(begun).toEqual(['other', 'slow'])
})

test('the target is not blamed for a child that this machine ends or cannot start', async () => {
  const pool = newPool()
  const silent = await listen()
  const job = pool.use('one', (child) => nothingThere(child, silent))
  job.catch(() => {})
  const [pid] = await until('a child', () => (pool.pids().length > 0 ? pool.pids() : undefined))
  process.kill(pid as number, 'SIGKILL')
  await expect(job).rejects.toThrow('the process for this target was stopped')
  await expect(job).rejects.not.toHaveProperty('end')
  const missing = newPool({ file: '/nowhere/child.js' })
  const attempt = missing.use('one', (child) => nothingThere(child, silent))
  await expect(attempt).rejects.toThrow('the process for this target was stopped')
})

test.each(['x', 'null', '{}', '{"error":1}'])('a child that answers %s is ended, and its job fails', async (line) => {
  const file = join(await mkdtemp(join(tmpdir(), 'skerry-child-')), 'child.mjs')
  await writeFile(file, `process.stdin.on('data', () => process.stdout.write(${JSON.stringify(`${line}\n`)}))`)
  const pool = newPool({ file })
  await expect(pool.use('one', (child) => nothingThere(child, 1))).rejects.toMatchObject({ end: 'died' })
})

test('a child without work ends by itself', async () => {
  const pool = newPool({ idleMs: 50 })
  const pid = await pool.use('one', async (child) => child.pid as number)
  await until('the child to be gone', () => !isThere(pid))
  expect(pool.pids()).toEqual([])
})

test('a child process in an endless loop ends when its parent is killed', async () => {
  const { promise: answered, resolve } = Promise.withResolvers<void>()
  const port = await listen(spins, resolve)
  const file = fileURLToPath(new URL('./parent.ts', import.meta.url))
  const parent = spawn(process.execPath, [file, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: parent.stdout }), 'line')
  const pid = Number(line)
  await answered
  const before = await cpuTicks(pid)
  await until('the child to spin', async () => (await cpuTicks(pid)) > before + 50)
  parent.kill('SIGKILL')
  await until('the child to be gone', () => !isThere(pid))
})

/** The current memory of a process. 0 once it has ended. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
}

/** The processor time that a process has used, in hundredths of a second. */
async function cpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[11])
}

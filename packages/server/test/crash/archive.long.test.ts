import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { createClient } from '@skerry/sdk/client'
import { readAuditArchive } from '@skerry/sdk/internal/audit-archive'
import { verifyTrail } from '@skerry/sdk/internal/audit-proof'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listArchives } from '../../src/features/audit-proof/archive-store.ts'
import { seal } from '../../src/features/audit-proof/seal.ts'
import { engine } from '../engine.ts'
import { signUp, type Tenant } from '../tenant.ts'
import { openWorld, serverKey, type World } from '../world.ts'

const program = fileURLToPath(new URL('../../src/operator/main.js', import.meta.url))
const entriesOfPast = 4000
const halfYearSeconds = 183 * 86_400

// Only PostgreSQL lets an operator archive while the server runs.
describe.runIf(engine() === 'postgres')('an archive command that is killed', () => {
  let world: World
  let folder: string
  beforeAll(async () => {
    world = await openWorld()
    await world.server.context.queue.stop()
    folder = await mkdtemp(join(tmpdir(), 'skerry-archive-'))
  })
  afterAll(async () => {
    await world.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Creates an organization whose audit entries are half a year old and sealed. */
  async function withPast(): Promise<Tenant> {
    const { db } = world.server.context
    world.clock.advance(-halfYearSeconds)
    const of = await signUp(world)
    await db.rows(
      `insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at)
       select $1, 'aud_' || lpad(n::text, 22, '0'), 'secret.written', 'system', 'secret', '{}', $2
         from generate_series(1, $3::int) n`,
      [of.orgId, world.clock.now().toISOString(), entriesOfPast],
    )
    await seal(world.server.context)
    world.clock.advance(halfYearSeconds)
    return of
  }

  function begin(of: Tenant, path: string): ChildProcess {
    const before = world.clock.now().toISOString().slice(0, 7)
    const args = [program, 'audit', 'archive', of.orgId, '--before', before, '--out', path]
    const SKERRY_DATABASE_URL = world.server.context.config.databaseUrl as string
    const env = { PATH: process.env.PATH, SKERRY_DATABASE_URL, SKERRY_SERVER_KEY: serverKey }
    return spawn(process.execPath, args, { env, stdio: 'ignore' })
  }

  const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null
  const sizeOf = async (path: string) => (await stat(path).catch(() => ({ size: 0 }))).size

  /** Asserts that every entry is in the database or in a file that the database lists, and that all proofs hold. */
  async function check(of: Tenant, paths: string[]): Promise<number> {
    const known = await listArchives(world.server.context.db, { id: of.orgId })
    const { publicKey } = (await world.call(auditProof.exportKey)).body
    const archives = []
    for (const { sha256 } of known) {
      const files = await Promise.all(paths.map((path) => readFile(path).catch(() => Buffer.alloc(0))))
      const at = files.findIndex((file) => createHash('sha256').update(file).digest('hex') === sha256)
      expect(at).not.toBe(-1)
      archives.push(await readAuditArchive(createReadStream(paths[at] as string), [publicKey]))
    }
    const client = createClient({ baseUrl: world.url, credential: { bearer: of.admin.as.replace('Bearer ', '') } })
    const { findings, archived, size } = await verifyTrail(client, of.orgId, undefined, archives)
    expect([findings, archived.unread]).toEqual([[], 0])
    expect(size).toBeGreaterThan(entriesOfPast)
    return archived.entries
  }

  test('leaves every entry in the database or in the file, whenever it is killed, and can be run again', async () => {
    const whole = join(folder, 'whole.jsonl')
    const undisturbed = await withPast()
    expect(await once(begin(undisturbed, whole), 'exit')).toEqual([0, null])
    const fileSize = await sizeOf(whole)
    const outcomes = { before: 0, after: 0 }
    // The first kills come in the middle of the file, the others at and after its end.
    const cuts = [0.01, 0.3, 0.6, 0.9, 1, 1, 1, 1, 1, 1, 1, 1].map((share, at) => ({ share, laterMs: (at - 4) * 4 }))
    for (const [round, { share, laterMs }] of cuts.entries()) {
      const of = await withPast()
      const paths = [join(folder, `${round}.jsonl`), join(folder, `${round}-again.jsonl`)] as const
      const child = begin(of, paths[0])
      while (!hasEnded(child) && (await sizeOf(paths[0])) < share * fileSize) await sleep(1)
      if (laterMs > 0) await sleep(laterMs)
      if (!hasEnded(child)) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      const archived = await check(of, [...paths])
      if (archived > 0) expect(archived).toBeGreaterThanOrEqual(entriesOfPast)
      outcomes[archived === 0 ? 'before' : 'after']++
      if (archived > 0) continue
      expect(await once(begin(of, paths[1]), 'exit')).toEqual([0, null])
      expect(await check(of, [...paths])).toBeGreaterThanOrEqual(entriesOfPast)
    }
    // Otherwise no command was killed before it had archived.
    expect(outcomes.before).toBeGreaterThan(0)
  }, 300_000)
})

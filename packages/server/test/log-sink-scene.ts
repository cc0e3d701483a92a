import { logSink } from '@skerry/contract/log-sink/endpoints'
import { afterAll, afterEach } from 'vitest'
import { seal } from '../src/features/audit-proof/seal.ts'
import { shipAll } from '../src/features/log-sink/jobs.ts'
import { type Received, startCollector } from './services/collector.ts'
import { signUp, type Tenant } from './tenant.ts'
import { openWorld, type World } from './world.ts'

/**
 * Sets up a suite on log sinks: a world that sends no logs by itself, and a collector. After each test the collector
 * answers normally again. Call it at the top of the file:
 *
 * @example const { world, collector, withSink, deliver } = await openLogSinks()
 */
export async function openLogSinks() {
  const world = await openWorld({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  const collector = await startCollector()
  afterAll(async () => {
    await world.close()
    await collector.close()
  })
  const forget = () => {
    collector.records.length = 0
    collector.requests.length = 0
  }
  afterEach(() => {
    collector.answer = null
    forget()
  })
  const { context } = world.server
  // The queue is stopped, so that only the tests deliver logs.
  await context.queue.stop()

  const ask = <E extends Parameters<World['call']>[0]>(endpoint: E, of: Tenant, body?: object) =>
    world.call(endpoint, { as: of.admin.as, params: { orgId: of.orgId }, ...(body ? { body } : {}) } as never)
  const set = (of: Tenant, more: object = {}) => ask(logSink.set, of, { endpoint: collector.url, ...more })
  const shown = async (of: Tenant) => (await ask(logSink.get, of)).body.logSink
  /** Seals and sends the entries now, as the jobs would. */
  const deliver = async (of: Tenant) => {
    await seal(context)
    await shipAll(context, of.orgId)
  }

  /** Creates an organization with a sink that has received all entries so far. */
  async function withSink(more: object = {}): Promise<Tenant> {
    const of = await signUp(world)
    const { error } = await set(of, more)
    if (error) throw new Error(error.message)
    await deliver(of)
    forget()
    return of
  }

  const addEntries = (of: Tenant, count: number, action: string) =>
    context.db.rows(
      `insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at)
       select $1, 'aud_' || lpad(n::text, 22, '0'), $2, 'system', 'organization', '{}', $3
         from generate_series(1, $4::int) n`,
      [of.orgId, action, world.clock.now().toISOString(), count],
    )

  /** Records of entries, without the checkpoints between them. */
  const entriesAt = (at = collector) => at.records.filter((record) => !isCheckpoint(record))
  return { world, collector, ask, set, shown, deliver, withSink, addEntries, entriesAt }
}

export const isCheckpoint = ({ body }: Received) => body === 'audit.checkpoint'

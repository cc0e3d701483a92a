import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorld, type World } from '../../../test/world.ts'
import type { Tx } from '../../db/database.ts'
import { listLater, lockSealing } from './store.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  await world.server.context.queue.stop()
})
afterAll(() => world.close())

test('unsealed entries are read in index order, without sorting all of them, when statistics are outdated', async () => {
  const { db } = world.server.context
  await addEntries(1, 2_000)
  await db.rows('analyze audit_entries')
  await addEntries(2_001, 22_000)
  const later = await textOf((tx) => listLater(tx, { xid: '2001', createdAt: '-infinity', entryId: '' }, '2001', 200))
  const plan = await db.transaction(async (tx) => {
    await lockSealing(tx)
    await tx.rows(`prepare later as ${later}`)
    const lines = await tx.rows(`explain execute later('2001', '-infinity', '', '2001', 200)`)
    return lines.map((line) => Object.values(line as object)[0]).join('\n')
  })
  expect(plan).toMatch(/-> +Incremental Sort/)
  expect(plan).not.toMatch(/-> +Sort/)
})

/** Adds one entry in each transaction from `first` to `last`. */
const addEntries = (first: number, last: number) =>
  world.server.context.db.rows(
    `insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at, xid)
     select 'org_1', 'aud_' || n, 'org.updated', 'system', 'organization', '{}', now(), n::text::xid8
       from generate_series($1::int, $2::int) n`,
    [first, last],
  )

/** Returns the statement that a function of the store runs. */
async function textOf(run: (tx: Tx) => Promise<unknown>): Promise<string> {
  let text = ''
  const rows = async (given: string) => {
    text = given
    return []
  }
  await run({ rows } as Partial<Tx> as Tx)
  return text
}

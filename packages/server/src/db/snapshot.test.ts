import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines, type RunningEngine } from '../../test/db/engines.ts'
import type { Database, Snapshot } from './database.ts'

const everything = { text: 'select id, name from things order by id', values: [] }

for (const engine of engines) {
  describe.skipIf(engine.missing)(`${engine.name}${engine.missing ? ` (skipped: ${engine.missing})` : ''}`, () => {
    let running: RunningEngine
    let db: Database

    beforeAll(async () => {
      running = await engine.start()
      db = await running.open()
      await db.script(`create table things (id integer primary key, name text not null);
        insert into things select n, 'thing ' || n from generate_series(1, 10) n`)
    })
    afterAll(() => running?.stop())

    /** Reads the remaining rows of a reading. */
    async function rest(snapshot: Snapshot, reading = 0): Promise<{ id: number; name: string }[]> {
      const found = []
      for (;;) {
        const rows = await snapshot.next<{ id: number; name: string }>(reading, 3)
        if (rows.length === 0) return found
        found.push(...rows)
      }
    }

    it('shows one moment, although other callers write and delete while it is read', async () => {
      const snapshot = await db.openSnapshot(async () => [everything])
      const first = await snapshot.next<{ id: number }>(0, 2)
      await db.rows("update things set name = 'changed' where id > 1")
      await db.rows('delete from things where id = 5')
      await db.rows("insert into things values (11, 'late')")
      const found = [...first, ...(await rest(snapshot))]
      await snapshot.close()
      expect(found).toEqual(Array.from({ length: 10 }, (_, n) => ({ id: n + 1, name: `thing ${n + 1}` })))
    })

    it('has readings that can be read in any order, each with its own values, and returns no rows after their end', async () => {
      const named = (id: number) => ({ text: 'select name from things where id = $1', values: [id] })
      const snapshot = await db.openSnapshot(async (sql) => {
        const row = await sql.row<{ id: number }>('select min(id) as id from things')
        return [named(row?.id as number), everything]
      })
      expect((await rest(snapshot, 1)).length).toBe(10)
      expect(await snapshot.next(0, 5)).toEqual([{ name: 'thing 1' }])
      for (const reading of [0, 1]) expect(await snapshot.next(reading, 5)).toEqual([])
      await snapshot.close()
    })

    it('returns its connection, however often it is closed, and after any failure', async () => {
      // More rounds than there are connections.
      for (let n = 0; n < 30; n++) {
        const snapshot = await db.openSnapshot(async () => [everything])
        await snapshot.next(0, 1)
        await Promise.all([snapshot.close(), snapshot.close()])
        const refused = db.openSnapshot(async () => [{ text: 'select * from nowhere', values: [] }])
        await expect(refused).rejects.toMatchObject({ code: '42P01' })
        const failed = db.openSnapshot(async () => Promise.reject(new Error('changed its mind')))
        await expect(failed).rejects.toThrow('changed its mind')
      }
      expect(await db.row('select count(*) as n from things')).toEqual({ n: 10 })
    })
  })
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines, type RunningEngine } from '../../test/db/engines.ts'
import type { Database } from './database.ts'

for (const engine of engines) {
  describe.skipIf(engine.missing)(
    `rows of ${engine.name}${engine.missing ? ` (skipped: ${engine.missing})` : ''}`,
    () => {
      let running: RunningEngine
      let db: Database

      beforeAll(async () => {
        running = await engine.start()
        db = await running.open()
      })
      afterAll(() => running?.stop())

      it('come back with camelCase keys, and stay text where JavaScript has no exact type', async () => {
        const text = `select 1 as created_by_type, 'x'::text as "alreadyCamel", 1.10::numeric as exact_amount,
        '2026-02-28'::date as due_on, null as nothing_here, true as is_on, 'a'::char(3) as padded`
        expect(await db.row(text)).toEqual({
          createdByType: 1,
          alreadyCamel: 'x',
          exactAmount: '1.10',
          dueOn: '2026-02-28',
          nothingHere: null,
          isOn: true,
          padded: 'a  ',
        })
      })

      it('have instants as ISO strings with milliseconds and Z', async () => {
        const times = ['2026-11-20 20:12:33+00', '2026-11-20 20:12:33.5+00', '2026-11-20 23:12:33.123456+03:30']
        const row = await db.row('select $1::timestamptz as a, $2::timestamptz as b, $3::timestamptz as c', times)
        expect(row).toEqual({
          a: '2026-11-20T20:12:33.000Z',
          b: '2026-11-20T20:12:33.500Z',
          c: '2026-11-20T19:42:33.123Z',
        })
        expect(await db.row(`select 'infinity'::timestamptz as a, null::timestamptz as b`)).toEqual({
          a: 'infinity',
          b: null,
        })
      })

      it('have bigint counts as numbers, JSON parsed and bytes as a Buffer', async () => {
        const bytes = Buffer.from([0, 1, 255, 92])
        const text = 'select count(*) as n, $1::jsonb as j, $2::bytea as bytes, 9007199254740991::bigint as big'
        const row = await db.row<{ bytes: Buffer }>(text, [{ a: [1, null] }, bytes])
        expect(row).toEqual({ n: 1, j: { a: [1, null] }, bytes, big: Number.MAX_SAFE_INTEGER })
        expect(Buffer.isBuffer(row?.bytes)).toBe(true)
      })

      it('return every value unchanged', async () => {
        const texts = ['', `it's "quoted" \\ {x} , NULL`, 'snow ☃ and 🌊', '\n\t\r', 'NULL']
        const instant = new Date('2026-11-20T20:12:33.120Z')
        const row = await db.row(
          `select $1::text[] as texts, $2::bigint as big, $3::timestamptz as at, $4::jsonb as list,
          $5::jsonb as word, $6::int[] as ints, $7::text as nothing, $8::bytea[] as blobs, $9::boolean as yes`,
          [
            [...texts, null],
            2n ** 40n,
            instant,
            JSON.stringify([1, 'a']),
            JSON.stringify('a word'),
            [
              [1, 2],
              [3, 4],
            ],
            undefined,
            [Buffer.from('a"\\'), new Uint8Array([0])],
            true,
          ],
        )
        expect(row).toEqual({
          texts: [...texts, null],
          big: 2 ** 40,
          at: instant.toISOString(),
          list: [1, 'a'],
          word: 'a word',
          ints: [
            [1, 2],
            [3, 4],
          ],
          nothing: null,
          blobs: [Buffer.from('a"\\'), Buffer.from([0])],
          yes: true,
        })
      })

      it('carry megabytes in both directions', async () => {
        const large = 'a☃'.repeat(1_000_000)
        expect((await db.row<{ text: string }>('select $1::text as text', [large]))?.text === large).toBe(true)
      })

      it('come as a list that may be empty, and `row` returns the first one or undefined', async () => {
        expect(await db.rows('select n from generate_series(1, 3) n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
        expect(await db.rows('select 1 as n where false')).toEqual([])
        expect(await db.row('select 1 as n where false')).toBeUndefined()
      })
    },
  )
}

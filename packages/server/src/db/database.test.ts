import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines, type RunningEngine } from '../../test/db/engines.ts'
import type { Database } from './database.ts'
import { isForeignKeyViolation, isUndefinedTable, isUniqueViolation } from './sql-errors.ts'

const schema = `
  create table items (id integer primary key, owner text, constraint items_owner unique (owner));
  create table notes (item_id integer constraint notes_item references items deferrable initially deferred,
                      amount integer constraint notes_amount check (amount > 0));
  create sequence attempts;
  create function fail_until(wanted integer, state text) returns bigint language plpgsql as $$
    declare n bigint := nextval('attempts');
    begin
      if n < wanted then raise exception 'not yet' using errcode = state; end if;
      return n;
    end $$;`

for (const engine of engines) {
  describe.skipIf(engine.missing)(`${engine.name}${engine.missing ? ` (skipped: ${engine.missing})` : ''}`, () => {
    let running: RunningEngine
    let db: Database

    beforeAll(async () => {
      running = await engine.start()
      db = await running.open()
      await db.script(schema)
    })
    afterAll(() => running?.stop())

    const count = async () => (await db.row<{ n: number }>('select count(*) as n from items'))?.n
    const insert = 'insert into items (id, owner) values ($1, $2) returning id'

    describe('an error', () => {
      it('leaves the handle usable, and names the violated constraint', async () => {
        await db.rows(insert, [100, 'ann'])
        const duplicate = await refusal(db.rows(insert, [101, 'ann']))
        expect([isUniqueViolation(duplicate), isUniqueViolation(duplicate, 'items_owner')]).toEqual([true, true])
        expect(isUniqueViolation(duplicate, 'items_pkey')).toBe(false)
        expect(isForeignKeyViolation(await refusal(db.rows('insert into notes values (-1, 1)')), 'notes_item')).toBe(
          true,
        )
        expect(await refusal(db.rows('insert into notes values (100, 0)'))).toMatchObject({
          code: '23514',
          constraint: 'notes_amount',
        })
        expect(isUndefinedTable(await refusal(db.rows('select * from nowhere')))).toBe(true)
        expect(await refusal(db.rows('select 1 / $1::int', [0]))).toMatchObject({ code: '22012' })
        expect(await refusal(db.rows('select $1::text', ['nul \0 byte']))).toMatchObject({ code: '22021' })
        expect(await refusal(db.rows('selec'))).toMatchObject({ code: '42601' })
        expect(await refusal(db.rows('select $1::int'))).toMatchObject({ code: '08P01' })
        expect(await refusal(db.rows('select 1', [Symbol('x')]))).toBeInstanceOf(TypeError)
        expect(await db.row('select 1 as one')).toEqual({ one: 1 })
      })

      it('does not contain the values of its statement', async () => {
        const error = await refusal(db.rows('select $1::jsonb, $2::text', ['{"broken', 'sk_planted_value']))
        const shown = JSON.stringify({ ...error }) + error.message + error.stack
        expect(shown).not.toContain('sk_planted_value')
      })

      it('in foreign SQL with its own BEGIN leaves no transaction open', async () => {
        expect(await refusal(db.foreign('begin; select 1 / 0; commit'))).toMatchObject({ code: '22012' })
        expect(await db.rows('select 1 as one')).toEqual([{ one: 1 }])
      })
    })

    describe('a transaction', () => {
      it('that returns is visible to other connections, and passes its result on', async () => {
        const answer = await db.transaction(async (tx) => {
          await tx.rows(insert, [1, 'one'])
          return await tx.row<{ id: number }>(insert, [2, 'two'])
        })
        expect(answer).toEqual({ id: 2 })
        expect(await (await running.openSecond()).rows('select id from items where id < 3 order by id')).toEqual([
          { id: 1 },
          { id: 2 },
        ])
      })

      it('that throws leaves no rows, and passes the error on', async () => {
        const before = await count()
        const reason = new Error('refused')
        const failed = db.transaction(async (tx) => {
          await tx.rows(insert, [3, 'three'])
          tx.later(insert, [4, 'four'])
          throw reason
        })
        expect(await refusal(failed)).toBe(reason)
        expect(await count()).toBe(before)
      })

      it('with a failed statement does not commit, even if the code caught the error', async () => {
        const before = await count()
        const failed = db.transaction(async (tx) => {
          await tx.rows(insert, [5, 'five'])
          await tx.rows('select 1 / 0').catch(() => {})
          await tx.rows(insert, [6, 'six']).catch(() => {})
        })
        expect(await refusal(failed)).toMatchObject({ code: '22012' })
        expect(await count()).toBe(before)
      })

      it('whose first statement failed runs no later statement outside the transaction', async () => {
        const before = await count()
        const failed = db.transaction(async (tx) => {
          await tx.rows('select * from nowhere').catch(() => {})
          await tx.rows(insert, [7, 'seven']).catch(() => {})
          tx.later(insert, [8, 'eight'])
          await tx.script('insert into items values (9)').catch(() => {})
        })
        expect(isUndefinedTable(await refusal(failed))).toBe(true)
        expect(await count()).toBe(before)
      })

      it('that fails at COMMIT throws and leaves no rows', async () => {
        const failed = db.transaction(async (tx) => {
          await tx.rows('insert into notes values (-5, 1)')
        })
        expect(isForeignKeyViolation(await refusal(failed), 'notes_item')).toBe(true)
        expect(await db.rows('select * from notes')).toEqual([])
      })

      it('commits the statements of `later` in order, and fails if one of them fails', async () => {
        await db.transaction(async (tx) => {
          tx.later(insert, [20, 'before'])
          expect(await tx.row('select owner from items where id = 20')).toEqual({ owner: 'before' })
          tx.later('update items set owner = $2 where id = $1', [20, 'between'])
          tx.later('update items set owner = $2 where id = $1', [20, 'after'])
        })
        expect(await db.row('select owner from items where id = 20')).toEqual({ owner: 'after' })
        const failed = db.transaction(async (tx) => {
          await tx.rows(insert, [21, 'kept?'])
          tx.later(insert, [20, 'again'])
          return 'committed'
        })
        expect(isUniqueViolation(await refusal(failed), 'items_pkey')).toBe(true)
        expect(await db.rows('select id from items where id = 21')).toEqual([])
      })

      it('runs statements that were started together in order, and none after a failed one', async () => {
        const [first, second] = await db.transaction((tx) =>
          Promise.all([tx.row(insert, [30, 'a']), tx.row('select owner from items where id = 30')]),
        )
        expect([first, second]).toEqual([{ id: 30 }, { owner: 'a' }])
        const failed = db.transaction((tx) =>
          Promise.all([tx.rows(insert, [31, 'b']), tx.rows(insert, [31, 'c']), tx.rows(insert, [32, 'd'])]),
        )
        expect(isUniqueViolation(await refusal(failed), 'items_pkey')).toBe(true)
        expect(await db.rows('select id from items where id in (31, 32)')).toEqual([])
      })

      it('may have no statements', async () => {
        expect(await db.transaction(async () => 'nothing')).toBe('nothing')
      })

      it('refuses its handle once it has ended', async () => {
        let kept: Parameters<Parameters<Database['transaction']>[0]>[0] | undefined
        await db.transaction(async (tx) => {
          kept = tx
        })
        await expect(kept?.rows('select 1')).rejects.toThrow('This transaction has ended')
        expect(() => kept?.later('select 1')).toThrow('This transaction has ended')
      })

      it('refuses the outer handle inside, which would wait forever', async () => {
        const failed = db.transaction(() => db.rows('select 1'))
        await expect(failed).rejects.toThrow('Inside of a transaction')
        const nested = db.transaction(() => db.transaction(async () => {}))
        await expect(nested).rejects.toThrow('Inside of a transaction')
      })

      it.each(['40001', '40P01'])('runs again from the start after the error %s', async (state) => {
        await db.rows(`select setval('attempts', 1, false)`)
        let runs = 0
        const answer = await db.transaction(async (tx) => {
          runs++
          await tx.rows(insert, [40 + Number(state === '40001'), `run ${state}`])
          return await tx.row<{ n: number }>('select fail_until(3, $1) as n', [state])
        })
        expect([runs, answer]).toEqual([3, { n: 3 }])
      })

      it('throws after the sixth serialization failure', async () => {
        await db.rows(`select setval('attempts', 1, false)`)
        let runs = 0
        const failed = db.transaction(async (tx) => {
          runs++
          await tx.rows('select fail_until(1000, $1)', ['40001'])
        })
        expect(await refusal(failed)).toMatchObject({ code: '40001' })
        expect(runs).toBe(6)
      })

      it('is atomic when many run at once', async () => {
        await db.rows(insert, [50, '0'])
        const add = `update items set owner = (owner::int + 1)::text where id = 50`
        await Promise.all(
          Array.from({ length: 50 }, (_, i) =>
            db
              .transaction(async (tx) => {
                await tx.rows(add)
                if (i % 5 === 0) throw new Error('back')
              })
              .catch(() => {}),
          ),
        )
        expect(await db.row('select owner from items where id = 50')).toEqual({ owner: '40' })
      })

      it('is invisible to others before it has committed', async () => {
        let seen: Promise<unknown[]> | undefined
        const outside = (text: string) => db.rows(text)
        const reader = readerOutside(outside)
        await db.transaction(async (tx) => {
          await tx.rows(insert, [60, 'hidden'])
          seen = reader.ask('select id from items where id = 60')
          if (engine.name === 'postgres') await seen
          await tx.rows('select 1')
        })
        // The embedded database makes the reader wait, so it sees the row. On PostgreSQL it ran at once and does not.
        expect(await seen).toEqual(engine.name === 'embedded' ? [{ id: 60 }] : [])
      })
    })

    it('a statement still works after its table was changed', async () => {
      await db.script('create table wide (a integer); insert into wide values (1)')
      const all = 'select * from wide'
      expect(await db.rows(all)).toEqual([{ a: 1 }])
      const second = await running.openSecond()
      await second.script('alter table wide add b_c integer default 2')
      expect(await db.rows(all)).toEqual([{ a: 1, bC: 2 }])
      await second.script('alter table wide drop a')
      expect(await db.transaction((tx) => tx.rows(all))).toEqual([{ bC: 2 }])
    })

    it('foreign SQL keeps column names, returns Dates, and may hold several statements', async () => {
      const [row] = await db.foreign<{ created_at: Date }>('select $1::timestamptz as created_at', [
        '2026-11-20T00:00:00Z',
      ])
      expect(row?.created_at).toEqual(new Date('2026-11-20T00:00:00Z'))
      const several = `begin; select 1 as a_b; select count(*) as n from items where false; commit`
      expect(await db.foreign(several)).toEqual([{ a_b: 1 }, { n: 0 }])
      const inside = db.transaction(async (tx) => {
        await tx.foreign('insert into items (id) values ($1)', [70])
        throw new Error('back')
      })
      await refusal(inside)
      expect(await db.rows('select id from items where id = 70')).toEqual([])
    })
  })
}

/**
 * Runs the query outside the transaction although `ask` is called inside: it runs in the async context of this
 * function.
 */
function readerOutside(run: (text: string) => Promise<unknown[]>) {
  let ask: ((text: string) => void) | undefined
  const asked = new Promise<string>((resolve) => {
    ask = resolve
  })
  const answer = asked.then(run)
  return {
    ask(text: string) {
      ask?.(text)
      return answer
    },
  }
}

async function refusal(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('Expected a failure')
}

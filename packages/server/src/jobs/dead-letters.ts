import type { Sql } from '../db/database.ts'

/** A job that failed for good and is kept for an operator. */
export interface DeadLetter {
  id: string
  job: string
  createdAt: string
  /** The instant of the last failure. */
  failedAt: string
  attempts: number
  /** The result of `describe` for the last failure. */
  error: Record<string, unknown>
  data: object
}

/** Lists them, oldest first. */
export const listDeadLetters = (db: Sql): Promise<DeadLetter[]> =>
  db.rows<DeadLetter>(
    `select id, name as job, created_at, ended_at as failed_at, attempts, coalesce(error, '{}') as error, data
       from jobs where state = 'dead' order by ended_at, number`,
  )

/** Puts these jobs back into the queue with as many attempts as a new job. Returns how many there were. */
export async function retryDeadLetters(db: Sql, ids: string[]): Promise<number> {
  const retried = await db.rows(
    `update jobs set state = 'waiting', attempts = 0, due_at = now(), ended_at = null, error = null
      where state = 'dead' and id = any($1::uuid[]) returning id`,
    [ids],
  )
  return retried.length
}

/** Deletes these jobs. Returns how many there were. */
export async function deleteDeadLetters(db: Sql, ids: string[]): Promise<number> {
  const deleted = await db.rows(`delete from jobs where state = 'dead' and id = any($1::uuid[]) returning id`, [ids])
  return deleted.length
}

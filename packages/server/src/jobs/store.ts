import type { Sql } from '../db/database.ts'
import type { AnyJob } from './job.ts'

/** A new job, in the form that is stored. */
export interface NewJob {
  id: string
  name: string
  data: object
  key: string | null
  isUrgent: boolean
  delaySeconds: number
}

/** Adds a job. A job whose id already exists is not added again. */
export async function insertJob(db: Sql, { id, name, data, key, isUrgent, delaySeconds }: NewJob): Promise<void> {
  await db.rows(
    `insert into jobs (id, name, data, key, due_at)
     values ($1, $2, $3, $4, case when $5 then '-infinity' else now() + make_interval(secs => $6) end)
     on conflict (id) do nothing`,
    [id, name, JSON.stringify(data), key, isUrgent, delaySeconds],
  )
}

/** A job that this server runs. The number of the attempt distinguishes it from a later attempt on another server. */
export interface TakenJob {
  id: string
  name: string
  data: never
  attempts: number
}

/** The number of jobs that may begin, by name. */
export type Places = ReadonlyMap<string, number>

/**
 * Takes the due jobs, earliest first. If several jobs have the same key, only the first waiting one can be taken, and
 * only while none is active. So two servers that poll at the same time try to take the same row, and one of them skips
 * it.
 */
export const takeDueJobs = (db: Sql, places: Places): Promise<TakenJob[]> =>
  db.rows<TakenJob>(
    `with free as (select * from unnest($1::text[], $2::int[]) as free(name, places)),
          next as (
            select due.id
              from free
             cross join lateral (
               select j.id from jobs j
                where j.name = free.name and j.state = 'waiting' and j.due_at <= now()
                  and (j.key is null
                       or not exists (select from jobs a where a.name = j.name and a.key = j.key and a.state = 'active')
                          and not exists (select from jobs w
                                           where w.name = j.name and w.key = j.key and w.state = 'waiting'
                                             and (w.due_at, w.number) < (j.due_at, j.number)))
                order by j.due_at, j.number
                limit free.places
                for update of j skip locked) due),
          taken as (
            update jobs set state = 'active', attempts = attempts + 1, beat_at = now()
             where id in (select id from next) and state = 'waiting'
            returning id, name, data, attempts, due_at, number)
     select id, name, data, attempts from taken order by due_at, number`,
    [[...places.keys()], [...places.values()]],
  )

/** Removes the waiting jobs with this key from the queue and returns their data, oldest first. */
export async function deleteWaiting<Data>(db: Sql, name: string, key: string | null): Promise<Data[]> {
  const deleted = await db.rows<{ data: Data }>(
    `with deleted as (delete from jobs where name = $1 and key = $2 and state = 'waiting' returning data, number)
     select data from deleted order by number`,
    [name, key],
  )
  return deleted.map(({ data }) => data)
}

export async function completeJob(db: Sql, { id, attempts }: TakenJob): Promise<void> {
  await db.rows(
    `update jobs set state = 'completed', ended_at = now(), error = null
      where id = $1 and attempts = $2 and state = 'active'`,
    [id, attempts],
  )
}

/** The retry rules of jobs, in $1 to $5. A failed job either waits for its retry or has failed for good. */
const failure = `
  from unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::bool[])
         as rule(name, retry_limit, delay, delay_max, is_kept)
 where jobs.name = rule.name and jobs.state = 'active'`
const setFailed = `
  set state = case when attempts <= rule.retry_limit then 'waiting' when rule.is_kept then 'dead' else 'failed' end,
      due_at = now() + make_interval(secs =>
        least(rule.delay_max, rule.delay * 2 ^ least(attempts - 1, 30)) * (0.5 + random() / 2)),
      ended_at = case when attempts <= rule.retry_limit then null else now() end`

function ruleValues(jobs: readonly AnyJob[]): unknown[] {
  return [
    jobs.map(({ name }) => name),
    jobs.map(({ retry }) => retry.limit),
    jobs.map(({ retry }) => retry.delaySeconds),
    jobs.map(({ retry }) => retry.delayMaxSeconds),
    jobs.map(({ deadLetter }) => deadLetter),
  ]
}

/** @param error the result of `describe`, because a raw message may quote something secret */
export async function failJob(db: Sql, job: AnyJob, { id, attempts }: TakenJob, error: object): Promise<void> {
  await db.rows(`update jobs ${setFailed}, error = $8 ${failure} and jobs.id = $6 and jobs.attempts = $7`, [
    ...ruleValues([job]),
    id,
    attempts,
    JSON.stringify(error),
  ])
}

const cutOff = JSON.stringify({ error: 'CutOff' })

/** Fails the jobs whose server has not called `beat` for this long. */
export async function failSilent(db: Sql, jobs: readonly AnyJob[], silentSeconds: number): Promise<void> {
  await db.rows(
    `update jobs ${setFailed}, error = $7 ${failure} and jobs.beat_at < now() - make_interval(secs => $6)`,
    [...ruleValues(jobs), silentSeconds, cutOff],
  )
}

/** Fails all active jobs, without a check of their last beat. */
export async function failActive(db: Sql, jobs: readonly AnyJob[]): Promise<void> {
  await db.rows(`update jobs ${setFailed}, error = $6 ${failure}`, [...ruleValues(jobs), cutOff])
}

/** Records that the server of these jobs is alive. A later attempt, which another server runs, is left alone. */
export async function beat(db: Sql, taken: readonly TakenJob[]): Promise<void> {
  await db.rows(
    `update jobs set beat_at = now() from unnest($1::uuid[], $2::int[]) as mine(id, attempts)
      where jobs.id = mine.id and jobs.attempts = mine.attempts and jobs.state = 'active'`,
    [taken.map(({ id }) => id), taken.map(({ attempts }) => attempts)],
  )
}

/** Deletes finished jobs after a day. Until then their ids prevent the same job from being added again. */
export async function deleteOldJobs(db: Sql): Promise<void> {
  await db.rows(`delete from jobs where state in ('completed', 'failed') and ended_at < now() - interval '1 day'`)
}

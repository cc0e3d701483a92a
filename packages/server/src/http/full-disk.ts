import type { Database } from '../db/database.ts'
import { isDiskFull } from '../db/sql-errors.ts'
import type { Log } from '../kernel/log.ts'

/** Remembers that the disk of the database was full, until a write succeeds again. */
export interface FullDisk {
  /** Records a failed write. Logs it only if no other write failed in the half minute before. */
  note(): void
  /** After a failed write, tries another one, so that the answer is correct as soon as somebody has freed space. */
  isFull(): Promise<boolean>
  /** Forgets the failed write, because it was to another database. */
  clear(): void
}

const loggedAgainMs = 30_000

/**
 * Writes one mebibyte that no file system can compress. The rollback frees it, and a temporary table needs no vacuum.
 */
const takeRoom = `
  create temporary table room_on_disk (bytes bytea);
  alter table room_on_disk alter bytes set storage external;
  insert into room_on_disk select string_agg(sha512(n::text::bytea), '') from generate_series(1, 16384) n`

export function openFullDisk(db: Database, log: Log, now: () => Date): FullDisk {
  let isNoted = false
  let notedAtMs = Number.NEGATIVE_INFINITY
  let trying: Promise<boolean> | undefined
  const tryAgain = async (): Promise<boolean> => {
    const isFull = await isWithoutRoom(db)
    if (!isFull) isNoted = false
    return isFull
  }
  return {
    note() {
      const nowMs = now().getTime()
      if (nowMs - notedAtMs >= loggedAgainMs)
        log.error('the disk of the database is full: nothing can be written until somebody makes room')
      isNoted = true
      notedAtMs = nowMs
    },
    async isFull() {
      if (!isNoted) return false
      trying ??= tryAgain().finally(() => {
        trying = undefined
      })
      return await trying
    },
    clear() {
      isNoted = false
    },
  }
}

const undone = new Error('The write was only a trial')

async function isWithoutRoom(db: Database): Promise<boolean> {
  try {
    await db.transaction(async (tx) => {
      await tx.script(takeRoom)
      throw undone
    })
  } catch (error) {
    if (isDiskFull(error)) return true
    if (error !== undone) throw error
  }
  return false
}

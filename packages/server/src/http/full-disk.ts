import type { Log } from '../kernel/log.ts'

declare module '../kernel/context.ts' {
  interface Context {
    fullDisk: FullDisk
  }
}

/** What is remembered of writes that the database had no room for. */
export interface FullDisk {
  /** Says so in one line of the log, and not again with every request. */
  note(): void
  isFull(): boolean
}

/** Afterwards the server counts as ready again, and the next write shows whether somebody has made room. */
const remembersMs = 30_000

export function openFullDisk(log: Log, now: () => Date): FullDisk {
  let notedAtMs = Number.NEGATIVE_INFINITY
  const isFull = () => now().getTime() - notedAtMs < remembersMs
  return {
    note() {
      if (!isFull()) log.error('the disk of the database is full: nothing can be written until somebody makes room')
      notedAtMs = now().getTime()
    },
    isFull,
  }
}

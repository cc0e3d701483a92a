import type { AnyJob } from './job.ts'
import { hour, slotAt, slotId } from './schedule.ts'

export interface Calendar {
  /** The scheduled jobs whose period is not noted yet, with the ids of their rows. */
  due(nowMs: number): { id: string; job: AnyJob; slot: number }[]
  /** Notes that the job of a period was added. */
  note(job: AnyJob, slot: number): void
}

/**
 * Decides when scheduled jobs are due. When a server starts, its hourly and daily jobs are due at once, unless a server
 * has run them in this period. So a server that seldom runs at night still does its daily work.
 */
export function openCalendar(jobs: readonly AnyJob[], startMs: number): Calendar {
  const slots = new Map<string, number>()
  for (const { name, schedule } of jobs)
    if (schedule && schedule.periodSeconds < hour) slots.set(name, slotAt(schedule, startMs))
  return {
    due: (nowMs) =>
      jobs.flatMap((job) => {
        if (!job.schedule) return []
        const slot = slotAt(job.schedule, nowMs)
        return slots.get(job.name) === slot ? [] : [{ id: slotId(job.name, slot), job, slot }]
      }),
    note: (job, slot) => void slots.set(job.name, slot),
  }
}

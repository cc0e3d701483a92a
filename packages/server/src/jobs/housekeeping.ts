import { deleteOldInvalidations } from '../db/invalidations.ts'
import { job } from './job.ts'
import { maintain } from './maintain.ts'
import { everyMinutes } from './schedule.ts'
import { deleteOldJobs } from './store.ts'

/** Jobs that belong to no feature. */
export const jobs = [
  job('invalidations.sweep', { schedule: everyMinutes(5) }, ({ db }) => deleteOldInvalidations(db)),
  job('jobs.sweep', { schedule: everyMinutes(5) }, ({ db }) => deleteOldJobs(db)),
  job('maintain', { schedule: everyMinutes(15) }, maintain),
]

import { deleteOldInvalidations } from '../db/invalidations.ts'
import { job } from './job.ts'
import { maintain } from './maintain.ts'

/** What belongs to no feature. */
export const jobs = [
  job('invalidations.sweep', { cron: '*/5 * * * *' }, ({ db }) => deleteOldInvalidations(db)),
  job('maintain', { cron: '*/15 * * * *' }, maintain),
]

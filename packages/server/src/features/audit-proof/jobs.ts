import { job } from '../../jobs/job.ts'
import { everySeconds } from '../../jobs/schedule.ts'
import { seal } from './seal.ts'

export const jobs = [job('audit.seal', { schedule: everySeconds(10) }, seal)]

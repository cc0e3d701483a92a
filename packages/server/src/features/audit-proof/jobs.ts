import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everySeconds } from '../../jobs/schedule.ts'
import { seal } from './seal.ts'

const sealing = job('audit.seal', { schedule: everySeconds(10) }, seal)

/** Makes the signing key and seals soon after the start, because somebody may wait for a new server's first checkpoint. */
export async function startSealing({ db, exportKey, queue }: Context): Promise<void> {
  await exportKey.signer(db)
  for (const startAfterSeconds of [2, 5]) await queue.enqueue(db, sealing, {}, { startAfterSeconds })
}

export const jobs = [sealing]

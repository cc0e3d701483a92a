import { type Job, job } from '../../jobs/job.ts'
import type { Context } from '../../kernel/context.ts'
import { seal } from './seal.ts'

/** Between two looks for new entries. Cron knows minutes alone, so each minute brings its other turns with it. */
const intervalSeconds = 10

/** One that another of its minute has added adds none. */
interface Turn {
  isAgain?: true
}

const sealing: Job<Turn> = job<Turn>('audit.seal', { cron: '* * * * *' }, async (context, { isAgain }) => {
  if (!isAgain) await addTurns(context)
  await seal(context)
})

async function addTurns({ db, queue }: Context): Promise<void> {
  for (let seconds = intervalSeconds; seconds < 60; seconds += intervalSeconds)
    await queue.enqueue(db, sealing, { isAgain: true }, { startAfterSeconds: seconds })
}

export const jobs = [sealing]

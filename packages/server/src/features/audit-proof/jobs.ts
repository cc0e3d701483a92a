import { type Job, job } from '../../jobs/job.ts'
import type { Context } from '../../kernel/context.ts'
import { seal } from './seal.ts'

/** Between two looks for new entries. Cron knows minutes alone, so each minute brings its other turns with it. */
const intervalSeconds = 10
/** The same in the first minute of a server, when somebody may be waiting for the first checkpoint. */
const firstIntervalSeconds = 5

/** One that another of its minute has added adds none. */
interface Turn {
  isAgain?: true
}

const sealing: Job<Turn> = job<Turn>(
  'audit.seal',
  { cron: '* * * * *', pollSeconds: 3 },
  async (context, { isAgain }) => {
    if (!isAgain) await addTurns(context, intervalSeconds)
    await seal(context)
  },
)

/** Makes the key that signs, and the turns of the first minute: cron begins with the next one. */
export async function startSealing(context: Context): Promise<void> {
  await context.exportKey.signer(context.db)
  await addTurns(context, firstIntervalSeconds)
}

async function addTurns({ db, queue }: Context, everySeconds: number): Promise<void> {
  for (let seconds = everySeconds; seconds < 60; seconds += everySeconds)
    await queue.enqueue(db, sealing, { isAgain: true }, { startAfterSeconds: seconds })
}

export const jobs = [sealing]

import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { closeMinute } from './minutes.ts'

/** Queued with the first use in a minute, for the end of that minute. */
export const endOfMinute = job<{ orgId: string; id: string; beganAt: string }, Context>(
  'honey_tokens.end_of_minute',
  { retry: { limit: 12 } },
  (context, { beganAt, ...decoy }) =>
    transactWithAudit(context, system, (tx) => closeMinute(context, tx, decoy, beganAt)),
)

export const jobs = [endOfMinute]

import { logSink } from '@skerry/contract/log-sink/endpoints'
import { known, only, type Step, step, token, user } from './step.ts'
import type { Actor, Tenant } from './tenant.ts'

/** A log sink at an address that a server in a test may not reach, so that nothing is sent. */
export const sinkBody = () => ({ endpoint: 'https://10.0.0.1/v1/logs', headers: { 'x-key': 'value' }, enabled: true })

/** Steps that set, test and delete a log sink. */
export function sinking(ids: Record<string, string>, tenant: Tenant, admin: Actor): Step[] {
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byPerson = { as: admin.as, who: user(admin) }
  const place = { params: only(ids, {}), resource: known(ids, 'orgId') }
  return [
    step(logSink.set, 'log_sink.updated', byPerson, { ...place, body: sinkBody }),
    step(logSink.test, 'log_sink.tested', byToken, place),
    step(logSink.delete, 'log_sink.deleted', byToken, place),
  ]
}

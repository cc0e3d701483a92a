import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { instant, newId } from '../../kernel/context.ts'
import { insertRun } from './run-store.ts'
import type { Binding, Run } from './scope.ts'

/** Writes down a run that the server does by itself -> its id. */
export const insertOwnRun = (
  context: Context,
  db: Tx,
  { orgId, id, connectionId, environmentId }: Binding,
  trigger: Run['trigger'],
): Promise<string> =>
  insertRun(db, orgId, {
    id: newId('syncRun'),
    bindingId: id,
    connectionId,
    environmentId,
    trigger,
    adopt: [],
    origin: { actor: { type: 'sync', id: connectionId }, ipAddress: null, userAgent: null, requestId: null },
    now: instant(context),
  })

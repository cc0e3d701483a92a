import type { Body } from '@skerry/contract/endpoint'
import type { sync } from '@skerry/contract/sync/endpoints'
import { api } from '../api.ts'
import { layersBelow } from '../envs/layers-below.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { wrapEnvironmentKey } from '../envs/wrap-key.ts'
import { fetchCached, invalidate } from '../queries.ts'
import { envQuery } from '../secrets/queries.ts'
import { requireListed } from '../trust/checks.ts'
import { type Binding, type Connection, staleAfterSync } from './queries.ts'

type Bound = Pick<Body<typeof sync.createBinding>, 'environmentId' | 'destination'>

/** Creates a disabled binding, so that nothing is pushed before the person has seen what a push would do. */
export async function bindEnvironment(orgId: string, connection: Connection, bound: Bound): Promise<Binding> {
  const { environment } = await fetchCached(envQuery(orgId, bound.environmentId))
  const below = await layersBelow(orgId, environment)
  const ids = [bound.environmentId, ...below.map(({ environmentId }) => environmentId)]
  const keys = await keysFor(orgId, connection, ids)
  const body = { ...bound, ...keys, connectionId: connection.id, enabled: false }
  const { binding } = await api.sync.createBinding({ params: { orgId }, body })
  await invalidate(...staleAfterSync(orgId, ids))
  return binding
}

/** Gives a connection the keys of groups that were composed after it was bound. */
export async function giveMissingKeys(orgId: string, connection: Connection, binding: Binding): Promise<void> {
  const { id: bindingId, missingEnvironmentIds: ids } = binding
  const body = await keysFor(orgId, connection, ids)
  const typed = { connectionId: connection.id }
  await api.sync.updateBinding({ params: { orgId, bindingId }, body }, { typed })
}

async function keysFor(orgId: string, { id: principalId, publicKeyJwk }: Connection, environmentIds: string[]) {
  await checkMeanings(environmentIds)
  const reader = { principalType: 'sync_connection', principalId, publicKeyJwk }
  await requireListed(orgId, [reader])
  const wrappedDeks = []
  for (const environmentId of environmentIds)
    wrappedDeks.push({ environmentId, wrappedDek: await wrapEnvironmentKey(orgId, environmentId, reader) })
  return { wrappedDeks, acknowledgedDecryption: true }
}

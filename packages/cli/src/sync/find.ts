import { isNamed } from '@skerry/contract/prefixes'
import { syncVendors } from '@skerry/contract/vendors'
import { listSyncBindings, listSyncConnections, type SyncBinding, type SyncConnection } from '@skerry/sdk/internal/sync'
import { Failure, usage } from '../failure.ts'
import { findKnown } from '../find-one.ts'
import { checkKind, checkKnownName } from '../known-names.ts'
import { orNearest } from '../nearest.ts'
import { checkKeys } from '../pins.ts'
import { checkShownName, listPlaces } from '../places.ts'
import type { Session } from '../session.ts'

/** Finds a connection by its id or name. */
export async function findConnection(session: Session, wanted: string): Promise<SyncConnection> {
  const { id: orgId } = await session.org()
  const connections = await listSyncConnections(session.client, orgId)
  return findKnown({ session, orgId }, connections, wanted, {
    kind: 'syncConnection',
    noun: 'sync connection',
    list: 'skerry sync ls',
    nameOf: ({ name }) => name,
  })
}

/** The error for a command without a connection. It names the connections, or the platforms that can be connected. */
export async function connectionNeeded(session: Session): Promise<Failure> {
  const { id: orgId } = await session.org()
  const names = (await listSyncConnections(session.client, orgId)).map(({ name }) => name)
  const missing = 'the connection is missing'
  if (names.length > 0) return usage(missing, `name one of ${names.join(', ')}`)
  const slugs = Object.values(syncVendors).map(({ slug }) => slug)
  return usage(
    `${missing}, and no platform is connected yet`,
    `connect one with \`skerry sync connect <provider>\`: ${slugs.sort().join(', ')}`,
  )
}

export interface Bound {
  orgId: string
  binding: SyncBinding
  connection: SyncConnection
  /** The label of the environment, such as `shop/production`. */
  label: string
}

/** Finds a binding by its id, or by the name of a connection that has only one binding. */
export async function findBinding(session: Session, wanted: string): Promise<Bound> {
  const { orgId, bound } = await listBound(session)
  const [found, another] = bound.filter(
    ({ binding, connection }) =>
      isNamed(wanted, 'syncBinding', { id: binding.id, name: null }) || isNamed(wanted, 'syncConnection', connection),
  )
  if (another) throw usage(`several bindings use ${wanted}`, 'give an id of `skerry sync ls`')
  if (!found) {
    const names = bound.map(({ connection }) => connection.name)
    const next = orNearest(wanted, names, 'see `skerry sync ls`')
    throw new Failure('notFound', `there is no sync binding '${wanted}'`, next)
  }
  const { id, name } = found.connection
  checkKind({ kind: 'syncBinding', id: found.binding.id }, 'sync binding')
  if (wanted !== found.binding.id)
    checkKnownName(session, orgId, { kind: 'syncConnection', noun: 'sync connection', wanted, id, name })
  await checkShownName(session, orgId, found.label, found.binding.environmentId)
  return { orgId, ...found }
}

/** Lists every binding with its connection, and all connections. */
export async function listBound(session: Session) {
  const { id: orgId } = await session.org()
  const [connections, bindings, places] = await Promise.all([
    listSyncConnections(session.client, orgId),
    listSyncBindings(session.client, orgId),
    listPlaces(session),
  ])
  const labels = new Map(places.map(({ envId, label }) => [envId, label]))
  const bound = bindings.flatMap((binding) => {
    const connection = connections.find(({ id }) => id === binding.connectionId)
    return connection
      ? [{ binding, connection, label: labels.get(binding.environmentId) ?? binding.environmentId }]
      : []
  })
  return { orgId, connections, bound }
}

/** Checks that a connection's key is the one seen before. Call it before anything is wrapped to the connection. */
export const checkConnectionKey = (session: Session, { id, name, publicKeyJwk }: SyncConnection) =>
  checkKeys(session, [{ principalType: 'sync_connection', principalId: id, name, publicKeyJwk }])

/** Describes a destination by its fields: `appName=shop`. */
export function describeDestination({ destination }: Pick<SyncBinding, 'destination'>): string {
  const { provider, ...fields } = destination as Record<string, unknown>
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : text(value)}`)
    .join(' ')
}

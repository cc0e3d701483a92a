import type { sync } from '@skerry/contract/sync'
import type { SyncLimits } from '@skerry/providers/sync/provider'
import type { Tx } from '../../db/database.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import { type In, type Out, Reply } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { findEnv } from '../envs/scope.ts'
import type { InOrg } from '../orgs/scope.ts'
import {
  deleteBinding,
  insertBinding,
  listBindings,
  listNeighbours,
  listSecretNames,
  lockBindings,
  revokeUnneeded,
  type Settings,
  updateBinding,
} from './binding-store.ts'
import { takeEndings } from './change-store.ts'
import { checkAcknowledged, giveKeys } from './deks.ts'
import { resetLedger } from './ledger-store.ts'
import { nameKey, namesThere } from './names.ts'
import { insertOwnRun } from './own-run.ts'
import { performRun } from './run-job.ts'
import { type Binding, type Connection, findBinding, findConnection, type OnBinding } from './scope.ts'
import { checkDestination, describe } from './session.ts'

export async function list({ db, org, query }: In<typeof sync.bindings, InOrg>): Out<typeof sync.bindings> {
  const cursor = pageFrom(query, 'syncBinding')
  const page = pageOf(await listBindings(db, org, cursor), cursor, byCreation)
  return { bindings: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

export async function create(input: In<typeof sync.createBinding, InOrg>): Out<typeof sync.createBinding> {
  const { db, org, principal, body, now, newId, audit } = input
  checkAcknowledged(body.acknowledgedDecryption)
  const connection = await findConnection(db, org, body.connectionId)
  if (!connection) throw fail('not_found', 'body.connectionId: no such sync connection')
  const env = await findEnv(db, org, body.environmentId, principal, now)
  if (!env) throw fail('not_found', 'body.environmentId: no such env')
  if (env.applicationId === null)
    throw fail(
      'invalid_request',
      'body.environmentId: a group is pushed with the environments that it is composed into',
    )
  await lockBindings(db, org)
  const { settings, limits } = await settingsOf(connection, body, defaults)
  const id = newId('syncBinding')
  await insertBinding(db, org, { id, connectionId: connection.id, environmentId: env.id, ...settings, now })
  const binding = (await findBinding(db, org, id)) as Binding
  const granted = await giveKeys(input, binding, body.wrappedDeks, { complete: true })
  await checkNeighbours(db, binding, limits)
  const { connectionId, environmentId, mode, enabled } = binding
  audit('sync_binding.created', id, { connectionId, environmentId, mode, enabled, grantedEnvironmentIds: granted })
  await pushSoon(input, binding)
  return new Reply(201, { binding: toResponse((await findBinding(db, org, id)) as Binding) })
}

export async function update(input: In<typeof sync.updateBinding, OnBinding>): Out<typeof sync.updateBinding> {
  const { db, org, binding, body, now, audit } = input
  const { wrappedDeks, acknowledgedDecryption } = body
  if (wrappedDeks !== undefined || acknowledgedDecryption !== undefined) checkAcknowledged(acknowledgedDecryption)
  await lockBindings(db, org)
  const connection = (await findConnection(db, org, binding.connectionId)) as Connection
  const { settings, limits } = await settingsOf(connection, body, binding)
  const moves = settings.places.join('\n') !== binding.places.join('\n')
  await updateBinding(db, binding, { ...settings, now })
  // What was written at another place is no longer this binding’s: it stays there.
  if (moves) await resetLedger(db, org.id, binding.id)
  const granted = wrappedDeks ? await giveKeys(input, binding, wrappedDeks, { complete: false }) : []
  const updated = await findBinding(db, org, binding.id)
  if (!updated) throw fail('not_found', 'no such sync binding')
  await checkNeighbours(db, updated, limits)
  const { mode, enabled } = updated
  audit('sync_binding.updated', binding.id, { mode, enabled, moved: moves, grantedEnvironmentIds: granted })
  await pushSoon(input, updated)
  return { binding: toResponse((await findBinding(db, org, binding.id)) as Binding) }
}

export async function remove(input: In<typeof sync.deleteBinding, OnBinding>): Out<typeof sync.deleteBinding> {
  const { db, org, binding, audit } = input
  if (!(await deleteBinding(db, binding))) throw fail('not_found', 'no such sync binding')
  await takeEndings(db, { orgId: org.id, bindingIds: [binding.id] })
  const revoked = await revokeUnneeded(db, [org.id], binding.connectionId)
  const { connectionId, environmentId } = binding
  const revokedEnvironmentIds = revoked.map((grant) => grant.environmentId)
  audit('sync_binding.deleted', binding.id, { connectionId, environmentId, revokedEnvironmentIds })
  return { ok: true }
}

const defaults: Omit<Settings, 'destination' | 'places'> = {
  nameTransform: {},
  include: [],
  exclude: [],
  onDelete: 'keep',
  mode: 'auto',
  adopt: false,
  enabled: true,
}

type Given = Partial<Omit<Settings, 'places'>>

/** Settings as they are to be, out of what is asked for and what was there, with what the destination says of itself. */
async function settingsOf(
  connection: Connection,
  asked: { [K in keyof Given]?: Given[K] | undefined },
  before: Omit<Settings, 'destination' | 'places'> & { destination?: Settings['destination'] },
): Promise<{ settings: Settings; limits: SyncLimits }> {
  const destination = (asked.destination ?? before.destination) as Settings['destination']
  checkDestination(destination, connection.provider)
  const { places, limits } = await describe(connection.config, destination)
  const {
    nameTransform = before.nameTransform,
    include = before.include,
    exclude = before.exclude,
    onDelete = before.onDelete,
    mode = before.mode,
    adopt = before.adopt,
    enabled = before.enabled,
  } = asked
  const settings = { destination, places: [...places], nameTransform, include, exclude, onDelete, mode, adopt, enabled }
  return { settings, limits }
}

/** The names of two bindings must not meet: each would overwrite what the other wrote. */
async function checkNeighbours(db: Tx, binding: Binding, limits: SyncLimits): Promise<void> {
  const { orgId } = binding
  const namesOf = async (one: Binding) => namesThere(await listSecretNames(db, orgId, one.id), one, limits.name).keys()
  const own = [...(await namesOf(binding))]
  for (const neighbour of await listNeighbours(db, orgId, binding)) {
    const theirs = new Set([...(await namesOf(neighbour))].map((name) => nameKey(name, limits.name)))
    const met = own.find((name) => theirs.has(nameKey(name, limits.name)))
    if (met !== undefined)
      throw fail('conflict', `body.destination: the binding ${neighbour.id} writes ${met} there, too`)
  }
}

/** Its first push, or one under its new settings. */
async function pushSoon(
  { context, db, enqueue }: Pick<In<typeof sync.createBinding>, 'context' | 'db' | 'enqueue'>,
  binding: Binding,
): Promise<void> {
  if (binding.mode !== 'auto' || !binding.enabled) return
  const runId = await insertOwnRun(context, db, binding, 'change')
  await enqueue(performRun, { orgId: binding.orgId, runId })
}

/** What the server alone keeps of a binding stays there. */
export function toResponse({ orgId, places, revision, takenDigest, failureStreak, ...binding }: Binding) {
  return binding
}

/** A binding as it would be with other settings, for a plan. */
export async function withSettings(
  connection: Connection,
  binding: Binding,
  asked: Parameters<typeof settingsOf>[1],
): Promise<Binding> {
  const { settings } = await settingsOf(connection, asked, binding)
  return { ...binding, ...settings }
}

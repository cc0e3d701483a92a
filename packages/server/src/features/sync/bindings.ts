import { isDeepStrictEqual } from 'node:util'
import type { sync } from '@skerry/contract/sync/endpoints'
import type { SyncLimits } from '@skerry/providers/sync/provider'
import type { Context } from '../../http/context.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import { type In, type Out, Reply, type Work } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { deleteUnreadGrants } from '../../model/grants/write.ts'
import { findEnv } from '../envs/scope.ts'
import type { InOrg } from '../orgs/scope.ts'
import {
  deleteBinding,
  insertBinding,
  listBindings,
  lockBindings,
  type Settings,
  updateBinding,
} from './binding-store.ts'
import { takeEndings } from './change-store.ts'
import { checkAcknowledged, giveKeys } from './deks.ts'
import { resetLedger } from './ledger-store.ts'
import { checkNeighbours } from './neighbours.ts'
import { insertOwnRun } from './own-run.ts'
import { performRun } from './run-job.ts'
import { type Binding, type Connection, findBinding, findConnection, type OnBinding } from './scope.ts'
import { checkDestination, describe, openDestination, placesThere, providerError } from './session.ts'

export async function list({ db, org, query }: In<typeof sync.bindings, InOrg>): Out<typeof sync.bindings> {
  const cursor = pageFrom(query, 'syncBinding')
  const page = pageOf(await listBindings(db, org, cursor), cursor, byCreation)
  return { bindings: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

export async function create(input: In<typeof sync.createBinding, InOrg>): Out<typeof sync.createBinding> {
  const { context, db, org, principal, body, now, newId, transaction } = input
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
  const { settings, limits } = await settingsOf(context, connection, body, defaults)
  const id = newId('syncBinding')
  return await transaction(async (work) => {
    const { db: tx, audit } = work
    await lockBindings(tx, org)
    if (!(await findConnection(tx, org, connection.id)) || !(await findEnv(tx, org, env.id, principal, now)))
      throw fail('not_found', 'body.connectionId or body.environmentId: it was deleted in the meantime')
    await insertBinding(tx, org, { id, connectionId: connection.id, environmentId: env.id, ...settings, now })
    const binding = (await findBinding(tx, org, id)) as Binding
    const granted = await giveKeys({ ...input, db: tx }, binding, body.wrappedDeks, { complete: true })
    await checkNeighbours(tx, binding, limits)
    const { connectionId, environmentId, mode, enabled } = binding
    audit('sync_binding.created', id, { connectionId, environmentId, mode, enabled, grantedEnvironmentIds: granted })
    await pushSoon(context, work, binding)
    return new Reply(201, { binding: toResponse((await findBinding(tx, org, id)) as Binding) })
  })
}

export async function update(input: In<typeof sync.updateBinding, OnBinding>): Out<typeof sync.updateBinding> {
  const { context, db, org, binding, body, now, transaction } = input
  const { wrappedDeks, acknowledgedDecryption } = body
  if (wrappedDeks !== undefined || acknowledgedDecryption !== undefined) checkAcknowledged(acknowledgedDecryption)
  const connection = (await findConnection(db, org, binding.connectionId)) as Connection
  const { settings, limits } = await settingsOf(context, connection, body, binding)
  return await transaction(async (work) => {
    const { db: tx, audit } = work
    await lockBindings(tx, org)
    const before = await findBinding(tx, org, binding.id)
    if (!before) throw fail('not_found', 'no such sync binding')
    if (before.revision !== binding.revision) throw fail('conflict', 'the binding was changed in the meantime')
    const moves = settings.places.join('\n') !== before.places.join('\n')
    await updateBinding(tx, before, { ...settings, now })
    // What was written at another place is no longer this binding’s: it stays there.
    if (moves) await resetLedger(tx, org.id, binding.id)
    const granted = wrappedDeks ? await giveKeys({ ...input, db: tx }, before, wrappedDeks, { complete: false }) : []
    const updated = (await findBinding(tx, org, binding.id)) as Binding
    await checkNeighbours(tx, updated, limits)
    const { mode, enabled } = updated
    audit('sync_binding.updated', binding.id, { mode, enabled, moved: moves, grantedEnvironmentIds: granted })
    await pushSoon(context, work, updated)
    return { binding: toResponse((await findBinding(tx, org, binding.id)) as Binding) }
  })
}

export async function remove(input: In<typeof sync.deleteBinding, OnBinding>): Out<typeof sync.deleteBinding> {
  const { db, org, binding, audit } = input
  if (!(await deleteBinding(db, binding))) throw fail('not_found', 'no such sync binding')
  await takeEndings(db, { orgId: org.id, bindingIds: [binding.id] })
  const revoked = await deleteUnreadGrants(db, [org.id], binding.connectionId)
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

type Before = Omit<Settings, 'destination' | 'places'> & Partial<Pick<Settings, 'destination' | 'places'>>

/** Settings as they are to be, out of what is asked for and what was there, with what the destination says of itself. */
async function settingsOf(
  context: Context,
  connection: Connection,
  asked: { [K in keyof Given]?: Given[K] | undefined },
  before: Before,
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
  const isSame = before.places !== undefined && isDeepStrictEqual(destination, before.destination)
  const found = isSame ? before.places : await placesNow(context, connection, destination)
  const settings = { destination, places: [...(found ?? places)] }
  return { settings: { ...settings, nameTransform, include, exclude, onDelete, mode, adopt, enabled }, limits }
}

/** Where a destination says that it is. One that does not answer now is asked again by each run. */
async function placesNow(context: Context, connection: Connection, destination: Settings['destination']) {
  try {
    return await placesThere(await openDestination(context, connection, destination, []), destination)
  } catch (error) {
    if (providerError(error)) return null
    throw error
  }
}

/** Its first push, or one under its new settings. */
async function pushSoon(
  context: Context,
  { db, enqueue }: Pick<Work, 'db' | 'enqueue'>,
  binding: Binding,
): Promise<void> {
  if (binding.mode !== 'auto' || !binding.enabled) return
  const runId = await insertOwnRun(context, db, binding, 'change')
  await enqueue(performRun, { orgId: binding.orgId, runId })
}

/** What the server alone keeps of a binding stays there. */
function toResponse({ orgId, places, revision, takenDigest, failureStreak, ...binding }: Binding) {
  return binding
}

/** A binding as it would be with other settings, for a plan. */
export async function withSettings(
  context: Context,
  connection: Connection,
  binding: Binding,
  asked: { [K in keyof Given]?: Given[K] | undefined },
): Promise<Binding> {
  const { settings } = await settingsOf(context, connection, asked, binding)
  return { ...binding, ...settings }
}

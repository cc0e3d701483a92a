import { isDeepStrictEqual } from 'node:util'
import type { sync } from '@skerry/contract/sync/endpoints'
import type { SyncLimits } from '@skerry/providers/sync/provider'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import { type In, type Out, Reply, type Work } from '../../http/route.ts'
import { instant } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { syncOf } from '../../keys/keypairs.ts'
import { deleteUnreadGrants, putGrants } from '../../model/grants/write.ts'
import { findEnv, findEnvOfBody } from '../envs/scope.ts'
import { checkLasting } from '../grants/ends.ts'
import type { InOrg } from '../orgs/scope.ts'
import {
  deleteBinding,
  insertBinding,
  type LayerAccess,
  listBindings,
  listLayerAccess,
  lockBindings,
  type Settings,
  updateBinding,
} from './binding-store.ts'
import { takeEndings } from './change-store.ts'
import { resetLedger } from './ledger-store.ts'
import { checkNeighbours } from './names.ts'
import { makePlan } from './plan.ts'
import { startForChange } from './run-job.ts'
import { type Binding, type Connection, findBinding, findConnection, type OnBinding } from './scope.ts'
import { asRefusal, checkDestination, describe, openDestination, placesThere, providerError } from './session.ts'
import { readValues, stateOf, Unreadable } from './state.ts'

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
  const env = await findEnvOfBody(db, org, body.environmentId, principal, now)
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
    await input.sign(work)
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
    // Secrets at the previous place no longer belong to this binding, so they stay there.
    if (moves) await resetLedger(tx, org.id, binding.id)
    const granted = wrappedDeks ? await giveKeys({ ...input, db: tx }, before, wrappedDeks, { complete: false }) : []
    const updated = (await findBinding(tx, org, binding.id)) as Binding
    await checkNeighbours(tx, updated, limits)
    const { mode, enabled } = updated
    audit('sync_binding.updated', binding.id, { mode, enabled, moved: moves, grantedEnvironmentIds: granted })
    await pushSoon(context, work, updated)
    await input.sign(work)
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

/** Plans a run with the current or with other settings. At a new place the binding owns no names yet. */
export async function plan(input: In<typeof sync.plan, OnBinding>): Out<typeof sync.plan> {
  const { context, db, org, body } = input
  const connection = (await findConnection(db, org, input.binding.connectionId)) as Connection
  const { settings } = await settingsOf(context, connection, body, input.binding)
  const binding: Binding = { ...input.binding, ...settings }
  const facts = await describe(connection.config, binding.destination)
  try {
    const resolved = await readValues(context, binding, instant(context))
    const session = await openDestination(context, connection, binding.destination, resolved.values.values())
    const state = await stateOf(context, { binding, session, facts, resolved, adopt: [] })
    const moves = binding.places.join('\n') !== input.binding.places.join('\n')
    const { forget, kept, refused, ...plan } = makePlan(moves ? { ...state, ledger: new Map() } : state)
    const { notes } = await session.verify()
    return { plan: { ...plan, refused: [...refused, ...kept], effects: [...facts.effects, ...notes] } }
  } catch (error) {
    if (error instanceof Unreadable) throw fail('conflict', error.message)
    throw asRefusal(error)
  }
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

/** Merges the request into the previous settings, and returns them with the limits of the destination. */
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

/** Asks a destination for its places. Returns null if it does not answer now, because every run asks again. */
async function placesNow(context: Context, connection: Connection, destination: Settings['destination']) {
  try {
    return await placesThere(await openDestination(context, connection, destination, []), destination)
  } catch (error) {
    if (providerError(error)) return null
    throw error
  }
}

/** Starts the first push of a binding, or a push under new settings. */
async function pushSoon(
  context: Context,
  { db, enqueue }: Pick<Work, 'db' | 'enqueue'>,
  binding: Binding,
): Promise<void> {
  if (binding.mode === 'auto' && binding.enabled) await startForChange(context, db, binding, enqueue)
}

/** Removes the columns that only the server uses. */
function toResponse({ orgId, places, revision, takenDigest, failureStreak, askedUntil, ...binding }: Binding) {
  return binding
}

type KeyGiver = Pick<In<typeof sync.createBinding>, 'context' | 'principal' | 'now' | 'newId'> & { db: Tx }
type WrappedDeks = In<typeof sync.createBinding>['body']['wrappedDeks']

/** A caller who wraps keys must acknowledge each time that this server can then read the environment. */
function checkAcknowledged(acknowledged: boolean | undefined): void {
  if (acknowledged !== true)
    throw fail(
      'invalid_request',
      'body.acknowledgedDecryption: must be true, because this server can read what is wrapped to the connection',
    )
}

/**
 * Gives the connection the keys of a binding’s layers. Each key must belong to a layer, the caller must hold it, and it
 * must open a secret of the environment. A wrong key would fail at every run.
 */
async function giveKeys(
  request: KeyGiver,
  binding: Binding,
  wrappedDeks: WrappedDeks,
  { complete }: { complete: boolean },
): Promise<string[]> {
  const { db, principal, now } = request
  if (principal === null || principal.type === 'm2m')
    throw fail('forbidden', 'a machine client has no keys, so it cannot grant one')
  const layers = new Map(
    (await listLayerAccess(db, binding, principal, now)).map((layer) => [layer.environmentId, layer]),
  )
  const given = new Set<string>()
  for (const [index, { environmentId, wrappedDek }] of wrappedDeks.entries()) {
    const place = `body.wrappedDeks.${index}`
    const layer = layers.get(environmentId)
    if (!layer) throw fail('invalid_request', `${place}.environmentId: is no layer of the environment`)
    if (given.has(environmentId)) throw fail('invalid_request', `${place}.environmentId: is named twice`)
    if (!layer.isHeld) throw fail('forbidden', `${place}: you hold no key grant on ${layer.slug}`)
    checkLasting(layer.ownEnd, 'a sync connection')
    await checkOpens(request.context, db, binding, layer, wrappedDek, place)
    given.add(environmentId)
  }
  if (complete)
    for (const { environmentId, slug } of layers.values())
      if (!given.has(environmentId))
        throw fail('invalid_request', `body.wrappedDeks: the key of ${environmentId} (${slug}) is missing`)
  const holder = { principalType: 'sync_connection', principalId: binding.connectionId }
  const put = await putGrants({ ...request, principal }, binding.orgId, holder, wrappedDeks)
  if (!put) throw fail('conflict', 'the connection was deleted')
  return [...given]
}

async function checkOpens(
  context: Context,
  db: Tx,
  { orgId, connectionId }: Binding,
  { environmentId, name, ciphertext }: LayerAccess,
  wrappedDek: string,
  place: string,
): Promise<void> {
  const key = await context.keypairs.openEnvironment(db, syncOf(orgId, connectionId), { environmentId, wrappedDek })
  if (!key)
    throw fail('invalid_request', `${place}.wrappedDek: is no key that is wrapped to the key of this connection`)
  if (name === null || ciphertext === null) return
  const opens = await key.open(name, ciphertext).then(
    () => true,
    () => false,
  )
  if (!opens) throw fail('invalid_request', `${place}.wrappedDek: is not the key of this environment`)
}

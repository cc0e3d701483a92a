import {
  bindEnvironment,
  giveSyncKeys,
  listSyncBindings,
  type SyncBinding,
  type SyncPlan,
} from '@skerry/sdk/internal/sync'
import { findCurrent } from '../current-place.ts'
import { toFailure, usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { tellUnmade } from '../given-keys.ts'
import { type OpenPlace, openWithGroups } from '../grants.ts'
import { environmentShared, forgetReader, noteReaders } from '../known-readers.ts'
import { note, type Output, warn, writeLine } from '../output.ts'
import { findPlace } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { notedTime } from '../times.ts'
import { findProvider, readFields } from './fields.ts'
import {
  type Bound,
  checkConnectionKey,
  connectionNeeded,
  describeDestination,
  findBinding,
  findConnection,
} from './find.ts'
import { tellPlan } from './plan.ts'
import { followFirstPush } from './runs.ts'
import { takeBack, tellLeft } from './unfinished.ts'

export interface BindingOptions extends Flags {
  to?: Record<string, string>
  include?: string[]
  exclude?: string[]
  prefix?: string
  suffix?: string
  case?: 'upper' | 'lower' | 'keep'
  onDelete?: 'keep' | 'delete'
  mode?: 'auto' | 'manual'
  adopt?: boolean
  yes?: boolean
}

/**
 * Returns the settings that the options name. A name transform is one setting: its parts that are not named stay as
 * they were.
 */
function settingsOf(flags: BindingOptions, before: SyncBinding['nameTransform'] = {}) {
  const { include, exclude, prefix, suffix, onDelete, mode, adopt } = flags
  const { case: letters, ...transform } = { ...before, ...given({ prefix, suffix, case: flags.case }) }
  const asked = prefix ?? suffix ?? flags.case
  const nameTransform = letters === undefined || letters === 'keep' ? transform : { ...transform, case: letters }
  return given({
    include,
    exclude,
    onDelete,
    mode,
    adopt,
    nameTransform: asked === undefined ? undefined : nameTransform,
  })
}

const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/**
 * Binds in two steps: it shows the plan before anything is pushed. If the user declines, the binding is deleted again.
 */
export async function bind(wanted: string | undefined, { session, flags }: SignedIn<BindingOptions>): Promise<Output> {
  if (wanted === undefined) throw await connectionNeeded(session)
  const connection = await findConnection(session, wanted)
  const place = await findCurrent(session, flags)
  if (place.kind === 'group') throw usage('a group is pushed with the environments that it is composed into')
  const layers = await openWithGroups(session, place)
  const provider = await findProvider(connection.provider)
  const destination = await readFields(provider, 'destination', flags.to ?? {}, '--to')
  await allowReading(session, { connection, label: place.label }, layers, flags)
  const { orgId, envId: environmentId } = place
  const settings = { orgId, environmentId, destination, ...settingsOf(flags), enabled: false }
  const binding = await bindEnvironment(session.client, connection, settings, layers).catch(async (error) => {
    await tellUnmade(session, error, {
      made: 'binding',
      list: 'skerry sync ls',
      readerId: connection.id,
      given: layers,
    })
    throw error
  })
  const params = { orgId, bindingId: binding.id }
  try {
    const { plan } = await session.client.sync.plan({ params, body: {} })
    tellPlan(plan)
    await confirmOrRefuse(`pushes ${place.label} to ${describeDestination(binding)}`, flags)
  } catch (error) {
    await takeBack(session, binding, { orgId, connection, layers })
    throw error
  }
  await noteConnection(session, connection, layers)
  const enabled = await session.client.sync.updateBinding({ params, body: { enabled: true } }).catch((error) => {
    tellLeft(binding, layers)
    throw error
  })
  note(`bound ${place.label} to ${describeDestination(binding)}`)
  const isManual = binding.mode === 'manual'
  return {
    json: enabled,
    text: async () => {
      writeLine(binding.id)
      if (!isManual) await followFirstPush(session, params)
    },
    after: () => {
      if (isManual) note(`push with \`skerry sync run ${binding.id}\``)
    },
  }
}

/** Asks before a key is wrapped to a connection, because the server can read with it. */
async function allowReading(
  session: Session,
  { connection, label }: Pick<Bound, 'connection' | 'label'>,
  layers: readonly OpenPlace[],
  flags: { yes?: boolean },
): Promise<void> {
  const labels = layers.map((one) => one.label).join(', ')
  warn(`sync needs the key of ${labels}: from then on the server can read everything in it, pushed or not`)
  await confirmOrRefuse(`lets the server read ${labels}, to push ${label} through ${connection.name}`, flags)
  await checkConnectionKey(session, connection)
}

/** Remembers that this machine gave the connection these keys, so that the next re-key does not ask about it. */
async function noteConnection(
  session: Session,
  { id: principalId, publicKeyJwk }: Bound['connection'],
  layers: readonly OpenPlace[],
): Promise<void> {
  for (const { orgId, envId, key } of layers)
    await noteReaders(session, await environmentShared(orgId, envId, key), [{ principalId, publicKeyJwk }])
}

export async function edit(
  wanted: string,
  { session, flags }: SignedIn<BindingOptions & { pause?: boolean; resume?: boolean; keys?: boolean }>,
): Promise<Output> {
  const bound = await findBinding(session, wanted)
  const { orgId, binding, connection } = bound
  const { mode, ...settings } = {
    ...settingsOf(flags, binding.nameTransform),
    ...(flags.to === undefined ? {} : { destination: await newDestination(bound, flags.to) }),
  }
  const enabled = flags.pause ? false : flags.resume ? true : undefined
  const body = { ...settings, ...given({ mode, enabled }) }
  if (Object.keys(body).length === 0 && !flags.keys)
    throw usage('nothing is to be changed', 'see `skerry sync edit --help`')
  if (flags.keys) await giveKeys(session, bound, flags)
  if (Object.keys(settings).length > 0 || flags.resume) await tellEdit(session, bound, settings, flags)
  const params = { orgId, bindingId: binding.id }
  const isChanged = Object.keys(body).length > 0
  const answer = isChanged ? await session.client.sync.updateBinding({ params, body }) : { binding }
  const done = flags.pause ? 'paused' : flags.resume ? 'resumed' : 'changed'
  note(`${done} the pushes of ${bound.label} to ${connection.name}`)
  // A change ends the pauses of the server itself.
  const { nextTryAt } = answer.binding
  if (isChanged && nextTryAt !== null)
    note(`the destination asked Skerry to wait, so the next push starts at ${notedTime(nextTryAt)}`)
  return { json: answer }
}

export function checkEdit(flags: BindingOptions & { pause?: boolean; resume?: boolean; keys?: boolean }): void {
  if (flags.pause && flags.resume) throw usage('--pause and --resume cannot be used together')
}

/** Returns a complete destination. Fields that are not named keep their values if the kind stays the same. */
async function newDestination({ binding, connection }: Bound, to: Record<string, string>) {
  const provider = await findProvider(connection.provider)
  const { provider: _, ...before } = binding.destination as Record<string, unknown>
  const kept = to.kind === undefined || to.kind === before.kind ? before : {}
  const texts = Object.entries(kept).map(([name, value]) => [name, textOf(value)] as const)
  return readFields(provider, 'destination', { ...Object.fromEntries(texts), ...to }, '--to')
}

/** The text of a value, as the user types it at `--to`. */
const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Shows what the next push would do with the new settings. If it deletes something, the user must confirm. */
async function tellEdit(session: Session, bound: Bound, settings: object, flags: { yes?: boolean }): Promise<void> {
  const { orgId, binding, label } = bound
  let plan: SyncPlan
  try {
    plan = (await session.client.sync.plan({ params: { orgId, bindingId: binding.id }, body: settings })).plan
  } catch (error) {
    const { kind, message } = toFailure(error)
    if (kind !== 'conflict') throw error
    warn(`what the next push would do is not known: ${message}`)
    return confirmOrRefuse(`changes the binding of ${label}`, flags)
  }
  tellPlan(plan)
  const names = plan.delete.join(', ')
  if (names !== '')
    await confirmOrRefuse(`deletes ${names} at ${describeDestination(binding)} with the next push`, flags)
}

async function giveKeys(session: Session, bound: Bound, flags: { yes?: boolean }): Promise<void> {
  const { orgId, binding, connection, label } = bound
  const missing = new Set(binding.missingEnvironmentIds)
  if (missing.size === 0) return note(`${connection.name} has every key that it needs`)
  const [, app, env, branch] = /^([^/]*)\/([^@]*)(?:@(.*))?$/.exec(label) ?? []
  const place = await findPlace(session, { app, env, branch })
  if (place.envId !== binding.environmentId) throw usage(`${label} is another environment than the binding’s`)
  const layers = (await openWithGroups(session, place)).filter(({ envId }) => missing.has(envId))
  await allowReading(session, bound, layers, flags)
  await giveSyncKeys(session.client, connection, { orgId, bindingId: binding.id }, layers)
  await noteConnection(session, connection, layers)
  note(`gave ${connection.name} the key of ${layers.map((one) => one.label).join(', ')}`)
}

export async function unbind(wanted: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { orgId, binding, connection, label } = await findBinding(session, wanted)
  await confirmOrRefuse(`stops pushing ${label} to ${describeDestination(binding)}`, flags)
  await session.client.sync.deleteBinding(
    { params: { orgId, bindingId: binding.id } },
    { typed: { connectionId: connection.id } },
  )
  const left = await listSyncBindings(session.client, orgId)
  if (!left.some(({ connectionId }) => connectionId === connection.id)) forgetReader(session, orgId, connection.id)
  note(`${label} is not pushed through ${connection.name} any more; what was pushed stays there`)
  note(`\`skerry env rekey ${label}\` makes the key that the server had worthless`)
  return { json: { deleted: binding.id } }
}

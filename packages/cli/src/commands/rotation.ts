import { isNamed } from '@skerry/contract/prefixes'
import type { RotationKind } from '@skerry/contract/rotation/facts'
import { configureRotation, type Rotation } from '@skerry/sdk/internal/rotation'
import { type Command, Option } from 'commander'
import { findCurrent } from '../current-place.ts'
import { parseDuration } from '../duration.ts'
import { Failure, usage } from '../failure.ts'
import { type AtPlace, atPlace, type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { tellUnmade } from '../given-keys.ts'
import { openPlace } from '../grants.ts'
import { environmentShared, forgetReader, noteReaders } from '../known-readers.ts'
import { checkTarget } from '../leases/known-target.ts'
import { targetOf } from '../leases/targets.ts'
import { orNearest } from '../nearest.ts'
import { addressed, confirmable, explained, leaf } from '../options.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { checkKeys } from '../pins.ts'
import { checkShownName, listPlaces, type Place } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import {
  checkLength,
  editedConfig,
  lostSettings,
  type RotationOptions,
  rotationConfig,
  type Unsettable,
  unsettable,
} from '../rotation-config.ts'
import { listSecrets } from '../secrets/values.ts'
import { acceptServerReader } from '../server-readers.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { notedTime, shownTime } from '../times.ts'
import { formatDuration } from '../units.ts'

interface CreateOptions extends Flags, RotationOptions {
  kind?: RotationKind
  every: string
  target?: string
  now?: boolean
  yes?: boolean
}

interface EditOptions extends Flags, RotationOptions {
  every?: string
  unset?: Unsettable[]
}

export function register(command: Command): void {
  explained(
    command,
    'A rotation is named by its secret. If several environments rotate that secret, add --env or give its id.',
  )
  leaf(command, 'ls', 'List rotations, and the environments that the server can read because of them').action(
    inOrg(list),
  )
  settings(
    confirmable(addressed(leaf(command, 'create <secret>', 'Let the server replace a secret at regular intervals'))),
  )
    .addOption(
      new Option('--kind <kind>', 'generated value or password of a database (default: generated)').choices([
        'generated',
        'postgres',
        'mysql',
        'redis',
      ]),
    )
    .requiredOption('--every <duration>', 'interval: 12h, 30d')
    .option('--target <target>', 'lease target with the account')
    .option('--now', 'also rotate once right away')
    .action(atPlace(create, parseCreate))
  settings(addressed(leaf(command, 'edit <rotation>', 'Change the interval or other settings of a rotation')))
    .option('--every <duration>', 'interval: 12h, 30d')
    .addOption(new Option('--unset <settings...>', 'return these settings to their defaults').choices([...unsettable]))
    .action(signedIn(edit, parseEdit))
  addressed(leaf(command, 'show <rotation>', 'Show a rotation and the result of its last run')).action(signedIn(show))
  confirmable(addressed(leaf(command, 'run <rotation>', 'Rotate a secret now, even if its rotation is paused'))).action(
    signedIn(run),
  )
  addressed(leaf(command, 'pause <rotation>', 'Stop a rotation until you resume it')).action(
    signedIn((id: string, work: SignedIn) => setStatus(id, 'paused', work)),
  )
  addressed(leaf(command, 'resume <rotation>', 'Continue a paused rotation, and reset its errors')).action(
    signedIn((id: string, work: SignedIn) => setStatus(id, 'active', work)),
  )
  confirmable(addressed(leaf(command, 'rm <rotation>', 'Delete a rotation; the secret and its versions stay')))
    .option('--force', 'even if an interrupted run cannot be resolved')
    .action(signedIn(remove))
  confirmable(leaf(command, 'trust', 'Accept the new key of the rotator, after the operator replaced it')).action(
    inOrg(trust),
  )
}

const repeat = (one: string, all: string[] = []) => [...all, one]

const settings = (command: Command) =>
  command
    .option('--length <number>', 'length of a value or password, in characters')
    .option('--alphabet <characters>', 'generated: alphanumeric, hex, base64url, ascii, or a list of characters')
    .option('--username <name>', 'account with the password')
    .option('--alternate-username <name>', 'second account; rotations alternate between both')
    .option('--username-secret <secret>', 'second account: secret that holds the name of the current one')
    .option('--user-host <pattern>', 'mysql: host of the account; % is any')
    .option('--statement <sql>', 'SQL to run instead of the default; repeatable', repeat)

async function create(
  secretName: string,
  { session, flags, place, input: { intervalSeconds, config } }: AtPlace<CreateOptions, typeof parseCreate>,
): Promise<Output> {
  const { orgId, envId, label } = place
  const target = flags.target === undefined ? {} : { targetId: await findTargetId(session, flags.target) }
  await checkReplacement(session, { orgId, envId, label, secretName, config }, flags)
  const { key } = await openPlace(session, orgId, envId, label)
  const rotator = await session.client.rotation.rotatorKey({ params: { orgId } })
  const isProtected = await warnIfProtected(session, place)
  const without = isProtected ? ' without approval' : ''
  const isGranted = rotator.grantedEnvironmentIds.includes(envId)
  if (isGranted) {
    if (isProtected) await confirmOrRefuse(`rotates ${secretName} in ${label}${without}`, flags)
  } else {
    warn(`rotation needs the key of ${label}: from then on the server can read everything in it`)
    await confirmOrRefuse(`lets the server read ${label}, to rotate ${secretName} there${without}`, flags)
    const { publicKeyJwk } = rotator
    await checkKeys(session, [{ principalType: 'rotator', principalId: orgId, name: null, publicKeyJwk }])
  }
  const now = flags.now ? { rotateNow: true } : {}
  const settings = { orgId, environmentId: envId, secretName, config, intervalSeconds, ...target, ...now }
  const { rotation, version } = await configureRotation(session.client, settings, key, rotator).catch(async (error) => {
    const given = isGranted ? [] : [place]
    await tellUnmade(session, error, { made: 'rotation', list: 'skerry rotation ls', readerId: orgId, given })
    throw error
  })
  if (!isGranted) {
    const { publicKeyJwk } = rotator
    await noteReaders(session, await environmentShared(orgId, envId, key), [{ principalId: orgId, publicKeyJwk }])
  }
  const next = rotation.nextRunAt === null ? '' : `, next at ${notedTime(rotation.nextRunAt)}`
  note(`${secretName} in ${label} is rotated every ${flags.every}${next}`)
  if (version !== undefined) note(`rotated ${secretName} now: version ${version}`)
  else if (flags.now) warn(`the first run has failed, and is tried again: ${rotation.lastError ?? 'it goes on'}`)
  else if (config.kind === 'generated') await warnWithoutValue(session, place, secretName)
  return { json: { rotation, ...(version === undefined ? {} : { version }) }, text: () => writeLine(rotation.id) }
}

/** Warns that programs get no value before the first run, if the secret is new. */
async function warnWithoutValue(session: Session, place: Place, secretName: string): Promise<void> {
  const secrets = await listSecrets(session, place)
  if (secrets.some(({ name }) => name === secretName)) return
  const run = `skerry rotation run ${secretName} --env ${place.label}`
  warn(`${secretName} in ${place.label} has no value until then; make one now with \`${run}\``)
}

/** An admin decides about a rotation when they create it, so its writes wait for no approval. Says so. */
async function warnIfProtected(
  session: Session,
  { orgId, envId, label }: { orgId: string; envId: string; label: string },
): Promise<boolean> {
  const { protection } = await session.client.protection.get({ params: { orgId, envId } })
  if (protection !== null) warn(`${label} is protected; this rotation changes it without approval`)
  return protection !== null
}

function parseCreate(flags: CreateOptions) {
  const intervalSeconds = parseDuration(flags.every, '--every')
  checkLength(flags)
  const config = rotationConfig(flags.kind ?? 'generated', flags)
  return { intervalSeconds, config }
}

interface Replacement {
  orgId: string
  envId: string
  label: string
  secretName: string
  config: ReturnType<typeof rotationConfig>
}

/** An existing policy changes its kind only with `--kind`, and loses settings only if the user agrees. */
async function checkReplacement(session: Session, wanted: Replacement, flags: CreateOptions): Promise<void> {
  const { orgId, envId, label, secretName, config } = wanted
  const { rotations } = await session.client.rotation.list({ params: { orgId } })
  const existing = rotations.find((one) => one.environmentId === envId && one.secretName === secretName)
  if (!existing) return
  if (existing.kind !== config.kind && flags.kind === undefined)
    throw usage(
      `the rotation of ${secretName} in ${label} is of kind ${existing.kind}`,
      `change it with \`skerry rotation edit ${secretName}\`, or give --kind ${config.kind} to replace it`,
    )
  const lost = lostSettings(existing.config, config)
  if (lost.length > 0)
    await confirmOrRefuse(
      `replaces the rotation of ${secretName} in ${label} and deletes these settings: ${lost.join(', ')}`,
      flags,
    )
}

/** Finds the target of the rotated password, and checks that it is the target that this machine knows. */
async function findTargetId(session: Session, wanted: string): Promise<string> {
  const target = await targetOf(session, wanted)
  await checkTarget(session, target)
  return target.id
}

async function list({ session, orgId }: InOrg): Promise<Output> {
  const [{ rotations }, { grantedEnvironmentIds }, labels] = await Promise.all([
    session.client.rotation.list({ params: { orgId } }),
    session.client.rotation.rotatorKey({ params: { orgId } }),
    labelsOf(session),
  ])
  return {
    json: { rotations, grantedEnvironmentIds },
    text: () => {
      const labelOf = (envId: string) => labels.get(envId) ?? envId
      writeTable(
        ['id', 'secret', 'environment', 'kind', 'status', 'every', 'last', 'next', 'failed'],
        rotations.map((one) => [
          one.id,
          one.secretName,
          labelOf(one.environmentId),
          one.kind,
          one.status,
          formatDuration(one.intervalSeconds),
          shownTime(one.lastRunAt),
          shownTime(one.nextRunAt, ''),
          one.failureStreak === 0 ? '' : String(one.failureStreak),
        ]),
        'no rotations yet; create one with `skerry rotation create <NAME>`',
      )
      if (grantedEnvironmentIds.length > 0)
        note(`through the rotator the server can read ${grantedEnvironmentIds.map(labelOf).join(', ')}`)
    },
  }
}

const labelsOf = async (session: Session) =>
  new Map((await listPlaces(session)).map(({ envId, label }) => [envId, label]))

interface Found {
  orgId: string
  rotation: Rotation
  label: string
}

/** Finds a rotation by its secret or its id, in all environments or in the one that options name. */
async function find(session: Session, wanted: string, flags: Flags): Promise<Found> {
  const { id: orgId } = await session.org()
  const isNarrow = [flags.env, flags.group, flags.branch].some((name) => name !== undefined)
  const place = isNarrow ? await findCurrent(session, flags) : undefined
  const { rotations: all } = await session.client.rotation.list({ params: { orgId } })
  const rotations = all.filter(({ environmentId }) => place === undefined || environmentId === place.envId)
  const [rotation, another] = rotations.filter(({ id, secretName }) =>
    isNamed(wanted, 'rotation', { id, name: secretName }),
  )
  if (!rotation) {
    const names = rotations.map(({ secretName }) => secretName)
    const next = orNearest(wanted, names, 'see `skerry rotation ls`')
    throw new Failure('notFound', `there is no rotation '${wanted}'${place ? ` in ${place.label}` : ''}`, next)
  }
  if (another) throw usage(`several environments rotate ${wanted}`, 'add --env, or give an id of `skerry rotation ls`')
  const label = (await labelsOf(session)).get(rotation.environmentId) ?? rotation.environmentId
  await checkShownName(session, orgId, label, rotation.environmentId)
  return { orgId, rotation, label }
}

async function show(wanted: string, { session, flags }: SignedIn): Promise<Output> {
  const { rotation, label } = await find(session, wanted, flags)
  const target = rotation.targetId === null ? null : await targetName(session, rotation.targetId)
  return {
    json: { rotation },
    text: () => {
      writeLine(`${rotation.secretName} in ${label}, ${rotation.id}: ${rotation.status}`)
      const { kind, ...settings } = rotation.config as Record<string, unknown>
      writeLine(`kind: ${kind}`)
      for (const [name, value] of Object.entries(settings))
        writeLine(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      if (target !== null) writeLine(`target: ${target}`)
      writeLine(
        `every: ${formatDuration(rotation.intervalSeconds)}, next: ${shownTime(rotation.nextRunAt, 'when resumed')}`,
      )
      const version = rotation.lastVersion === null ? 'no version yet' : `version ${rotation.lastVersion}`
      writeLine(`last: ${shownTime(rotation.lastRunAt)}, ${version}`)
      if (rotation.lastError !== null) writeLine(`failed ${rotation.failureStreak} times: ${rotation.lastError}`)
    },
  }
}

/** The name of a target, or its id for a credential that may not list targets. */
const targetName = (session: Session, targetId: string): Promise<string> =>
  targetOf(session, targetId).then(
    ({ name }) => name,
    () => targetId,
  )

async function edit(
  wanted: string,
  { session, flags, input: { intervalSeconds } }: SignedIn<EditOptions, typeof parseEdit>,
): Promise<Output> {
  const { orgId, rotation, label } = await find(session, wanted, flags)
  const config = editedConfig(rotation.config, flags, flags.unset ?? [])
  if (intervalSeconds === undefined && config === undefined)
    throw usage('nothing is to be changed', 'name a setting, such as --every 30d')
  const body = {
    ...(intervalSeconds === undefined ? {} : { intervalSeconds }),
    ...(config === undefined ? {} : { config }),
  }
  const params = { orgId, rotationId: rotation.id }
  const answer = await session.client.rotation.update({ params, body })
  const next = answer.rotation.nextRunAt === null ? 'when it is resumed' : `at ${notedTime(answer.rotation.nextRunAt)}`
  note(`changed the rotation of ${rotation.secretName} in ${label}; it runs next ${next}`)
  return { json: answer }
}

function parseEdit(flags: EditOptions) {
  checkLength(flags)
  return { intervalSeconds: flags.every === undefined ? undefined : parseDuration(flags.every, '--every') }
}

async function setStatus(wanted: string, status: 'active' | 'paused', { session, flags }: SignedIn): Promise<Output> {
  const { orgId, rotation, label } = await find(session, wanted, flags)
  const params = { orgId, rotationId: rotation.id }
  const answer = await session.client.rotation.update({ params, body: { status } })
  const next =
    answer.rotation.nextRunAt === null ? 'is paused' : `is active, next at ${notedTime(answer.rotation.nextRunAt)}`
  note(`the rotation of ${rotation.secretName} in ${label} ${next}`)
  return { json: answer }
}

async function run(wanted: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { orgId, rotation, label } = await find(session, wanted, flags)
  const isProtected = await warnIfProtected(session, { orgId, envId: rotation.environmentId, label })
  await confirmOrRefuse(
    `replaces ${rotation.secretName} in ${label} now${isProtected ? ' without approval' : ''}`,
    flags,
  )
  const done = await session.client.rotation.rotate({ params: { orgId, rotationId: rotation.id } })
  note(`rotated ${rotation.secretName} in ${label}: version ${done.version}`)
  return { json: done }
}

async function remove(
  wanted: string,
  { session, flags }: SignedIn<Confirmable & { force?: boolean }>,
): Promise<Output> {
  const { orgId, rotation, label } = await find(session, wanted, flags)
  await confirmOrRefuse(`stops rotating ${rotation.secretName} in ${label}`, flags)
  const params = { orgId, rotationId: rotation.id }
  const query = flags.force ? { force: 'true' as const } : {}
  const { rotatorRevoked } = await session.client.rotation.delete({ params, query })
  if (rotatorRevoked) forgetReader(session, orgId, orgId, rotation.environmentId)
  note(`${rotation.secretName} in ${label} is not rotated any more; its value stays`)
  if (rotatorRevoked)
    note(`the server no longer gets the key of ${label}; \`skerry env rekey\` makes what it had worthless`)
  return { json: { deleted: rotation.id, rotatorRevoked } }
}

async function trust({ session, flags, orgId }: InOrg<Confirmable>): Promise<Output> {
  const { publicKeyJwk } = await session.client.rotation.rotatorKey({ params: { orgId } })
  return acceptServerReader(session, { principalId: orgId, name: null, publicKeyJwk }, 'the rotator', flags)
}

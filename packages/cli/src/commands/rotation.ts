import { isNamed } from '@skerry/contract/prefixes'
import type { Rotation } from '@skerry/sdk/internal/rotation'
import { type Command, Option } from 'commander'
import { findCurrent } from '../current-place.ts'
import { parseDuration } from '../duration.ts'
import { Failure, usage } from '../failure.ts'
import { atPlace, type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { forgetReader } from '../known-readers.ts'
import { targetOf } from '../leases/targets.ts'
import { orNearest } from '../nearest.ts'
import { addressed, confirmable, explained, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { checkShownName, listPlaces } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { checkLength, editedConfig, type RotationOptions, type Unsettable, unsettable } from '../rotation/config.ts'
import { create, parseCreate } from '../rotation/create.ts'
import { warnIfProtected } from '../rotation/protected.ts'
import { acceptServerReader } from '../server-readers.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { notedTime, shownTime } from '../times.ts'
import { formatDuration } from '../units.ts'

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
  addressed(
    leaf(command, 'resume <rotation>', 'Continue a paused rotation, and count its failed runs from zero again'),
  ).action(signedIn((id: string, work: SignedIn) => setStatus(id, 'active', work)))
  confirmable(addressed(leaf(command, 'rm <rotation>', 'Delete a rotation; the secret and its versions stay')))
    .option('--force', 'delete even if an interrupted run cannot be resolved')
    .action(signedIn(remove))
  confirmable(
    leaf(
      command,
      'trust',
      'Accept the new key of the rotator, a part of the server, after the operator replaced the key',
    ),
  ).action(inOrg(trust))
}

const repeat = (one: string, all: string[] = []) => [...all, one]

const settings = (command: Command) =>
  command
    .option('--length <number>', 'length of a value or password, in characters')
    .option('--alphabet <characters>', 'generated: alphanumeric, hex, base64url, ascii, or a list of characters')
    .option('--username <name>', 'account with the password')
    .option('--alternate-username <name>', 'second account; rotations alternate between both')
    .option('--username-secret <secret>', 'second account: secret in which the name of the current account is stored')
    .option('--user-host <pattern>', 'mysql: host of the account; % is any')
    .option('--statement <sql>', 'SQL to run instead of the default; repeatable', repeat)

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
  const at = { orgId, envId: rotation.environmentId, label }
  const isProtected = await warnIfProtected(session, at, { secretName: rotation.secretName, isNow: true })
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

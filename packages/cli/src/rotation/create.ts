import type { RotationKind } from '@skerry/contract/rotation/facts'
import { configureRotation } from '@skerry/sdk/internal/rotation'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { tellUnmade } from '../given-keys.ts'
import { openPlace } from '../grants.ts'
import { environmentShared, noteReaders } from '../known-readers.ts'
import { checkTarget } from '../leases/known-target.ts'
import { targetOf } from '../leases/targets.ts'
import { note, type Output, warn, writeLine } from '../output.ts'
import { checkKeys } from '../pins.ts'
import type { Place } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { listSecrets } from '../secrets/values.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { notedTime } from '../times.ts'
import { checkLength, lostSettings, type RotationOptions, rotationConfig } from './config.ts'
import { warnIfProtected } from './protected.ts'

export interface CreateOptions extends Flags, RotationOptions {
  kind?: RotationKind
  every: string
  target?: string
  now?: boolean
  yes?: boolean
}

export function parseCreate(flags: CreateOptions) {
  const intervalSeconds = parseDuration(flags.every, '--every')
  checkLength(flags)
  const config = rotationConfig(flags.kind ?? 'generated', flags)
  return { intervalSeconds, config }
}

/** Lets the server replace a secret at regular intervals, after it got the key of the environment. */
export async function create(
  secretName: string,
  { session, flags, place, input: { intervalSeconds, config } }: AtPlace<CreateOptions, typeof parseCreate>,
): Promise<Output> {
  const { orgId, envId, label } = place
  const target = flags.target === undefined ? {} : { targetId: await findTargetId(session, flags.target) }
  await checkReplacement(session, { orgId, envId, label, secretName, config }, flags)
  const { key } = await openPlace(session, orgId, envId, label)
  const rotator = await session.client.rotation.rotatorKey({ params: { orgId } })
  const isProtected = await warnIfProtected(session, place, { secretName, isNow: flags.now === true })
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

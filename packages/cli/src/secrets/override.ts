import { escapeReferences } from '@skerry/crypto/references'
import {
  listOverrides,
  listUnreadableOverrides,
  type OverridesPlace,
  removeOverride,
  removeOverrideById,
  setOverride,
} from '@skerry/sdk/overrides'
import { Failure, toFailure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { whyNotArguments } from '../input.ts'
import { checkSecretName } from '../names.ts'
import { keyFailure } from '../no-key.ts'
import { note, type Output, printable, warn, writeTable } from '../output.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { checkValue } from './values.ts'
import { readOne } from './write.ts'

interface Options extends Flags {
  file?: string
  trim?: boolean
  empty?: boolean
  literal?: boolean
  remove?: boolean
  reveal?: boolean
}

/** Stores a value for the signed-in person alone, or removes it. */
export async function override(
  name: string,
  _extra: string[],
  { session, flags, place }: AtPlace<Options, typeof parseOverride>,
): Promise<Output> {
  const { at, label } = ownPlace(session, place)
  if (flags.remove) return remove(name, { session, at, label })
  const read = await readOne(name, flags)
  const value = flags.literal ? escapeReferences(read) : read
  checkValue(name, value)
  const stored = await explained(setOverride(session.client, at, { name, value }, await session.key()), session, label)
  note(`wrote ${name} in ${label} for you alone; \`skerry run\` prefers it on your machines`)
  return { json: { name, revision: stored.revision, environmentId: at.envId } }
}

export function parseOverride(flags: Options, name: string, extra: string[]): void {
  if (extra.length > 0 || name.includes('='))
    throw usage(whyNotArguments, 'pipe the value in, use --file, or type it when asked')
  checkSecretName(name)
  const others = [flags.file, flags.trim, flags.empty, flags.literal].some((one) => one !== undefined)
  if (flags.remove && others) throw usage('--remove takes no value', 'leave --file, --trim, --empty and --literal out')
}

async function remove(
  name: string,
  { session, at, label }: { session: Session; at: OverridesPlace; label: string },
): Promise<Output> {
  const key = await session.key()
  const removed = await explained(removeOverride(session.client, at, name, key), session, label)
  if (!removed && (await removeUnreadable(name, { session, at, label })))
    return { json: { name, removed: true, environmentId: at.envId } }
  if (!removed)
    throw new Failure('notFound', `you have no override of ${name} in ${label}`, 'see `skerry secrets overrides`')
  note(`removed your override of ${name} in ${label}; \`skerry run\` uses the shared value again`)
  return { json: { name, removed, environmentId: at.envId } }
}

/** An override that does not open has no name that this machine could know, so its id stands for it. */
async function removeUnreadable(
  id: string,
  { session, at, label }: { session: Session; at: OverridesPlace; label: string },
): Promise<boolean> {
  const unreadable = await listUnreadableOverrides(session.client, at, await session.key())
  if (!unreadable.some((one) => one.id === id)) return false
  await explained(removeOverrideById(session.client, at, id), session, label)
  note(`removed the override ${id} in ${label}, which your key pair does not open`)
  return true
}

/** Lists the overrides of the signed-in person. */
export async function overrides({ session, flags, place }: AtPlace<Options>): Promise<Output> {
  const { at, label } = ownPlace(session, place)
  const key = await session.key()
  const found = await explained(listOverrides(session.client, at, key), session, label)
  const unreadable = await explained(listUnreadableOverrides(session.client, at, key), session, label)
  const shown = found.map(({ name, value, revision, updatedAt }) => ({
    name,
    revision,
    updatedAt,
    ...(flags.reveal && { value }),
  }))
  return {
    json: { environment: { id: at.envId, label }, overrides: shown, unreadable },
    text: () => {
      writeTable(
        ['name', 'updated', ...(flags.reveal ? ['value'] : [])],
        found.map(({ name, value, updatedAt }) => [
          name,
          shownTime(updatedAt),
          ...(flags.reveal ? [printable(value)] : []),
        ]),
      )
      if (found.length + unreadable.length === 0) note(`you have no personal overrides in ${label}`)
      for (const { id } of unreadable)
        warn(
          `the override ${id} does not open with your key pair; remove it with \`skerry secrets override ${id} --remove\``,
        )
    },
  }
}

/** Overrides belong to an environment of an application, and also count on its branches. Only a person has any. */
function ownPlace({ principal }: Session, place: Place): { at: OverridesPlace; label: string } {
  if (principal.type !== 'user')
    throw new Failure('refused', 'only a person has personal overrides', 'sign in with `skerry login`')
  if (place.kind === 'group')
    throw usage(`${place.label} is a group`, 'override the secret in the environment that uses the group')
  const { orgId, parentId: envId } = place
  return { at: { orgId, envId, userId: principal.id }, label: place.label.replace(/@.*$/, '') }
}

async function explained<T>(asked: Promise<T>, session: Session, label: string): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (toFailure(error).kind !== 'conflict') throw await keyFailure(error, session, label)
    throw new Failure(
      'conflict',
      `your overrides in ${label} were changed on another machine; nothing was written`,
      'try again',
    )
  }
}

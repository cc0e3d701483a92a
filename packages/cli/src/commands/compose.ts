import { isClient } from '@skerry/contract/grants/readers'
import { isNamed } from '@skerry/contract/prefixes'
import { slugsInOrder } from '@skerry/sdk/internal/directory/group-order'
import { grantEnvironment } from '@skerry/sdk/secrets'
import type { Command } from 'commander'
import { findCurrentParent } from '../current-place.ts'
import { openDirectory } from '../directory.ts'
import { Failure, usage } from '../failure.ts'
import { type AtPlace, lookingUp } from '../frame.ts'
import { groupEnvironment, openPlace } from '../grants.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { checkKnownName, checkOwner } from '../known-names.ts'
import { environmentShared, noteReaders } from '../known-readers.ts'
import { orNearest } from '../nearest.ts'
import { accepting, confirmable, leaf, withEnv } from '../options.ts'
import { note, type Output, warn, writeTable } from '../output.ts'
import { findGroup, type Place } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { acceptReaders } from '../readers.ts'
import { noteRemoved } from '../removed-layers.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { typedOwner } from '../typed-names.ts'

interface SetOptions extends Flags, ReaderFlags {
  position?: string
  grant?: boolean
  yes?: boolean
}

const ofEnvironment = (command: Command) => withEnv(command.option('--app <slug>', 'application'))

export function register(command: Command): void {
  ofEnvironment(leaf(command, 'ls', 'List the groups of an environment, lowest precedence first')).action(
    atTarget(list),
  )
  accepting(confirmable(ofEnvironment(leaf(command, 'set <group>', 'Add a group to an environment, or move it'))))
    .option('--position <number>', 'a higher position overrides a lower one (default: the last)')
    .option('--grant', 'also give the key of the group to everyone who can read the environment')
    .action(atTarget(set, parseSet))
  confirmable(ofEnvironment(leaf(command, 'rm <group>', 'Remove a group from an environment'))).action(atTarget(remove))
}

const atTarget = lookingUp(async (session, flags) => ({ place: await findCurrentParent(session, flags) }))

async function set(
  groupSlug: string,
  { session, flags, place, input: { position } }: AtPlace<SetOptions, typeof parseSet>,
): Promise<Output> {
  const group = await findGroup(session, groupSlug)
  checkOwner(session, 'group', group, groupSlug)
  const same = await groupEnvironment(
    session,
    place.orgId,
    { groupId: group.id, slug: group.slug },
    place.environment.slug,
  )
  const label = `${group.slug}:${place.environment.slug}`
  // Keys are granted first, because after the composition a reader who lacks one key is refused the whole environment.
  const without = same ? await missingReaders(session, place, same.envId) : []
  const whoLacks = await namesOf(session, without)
  if (same && flags.grant) await grantReaders(session, place, { envId: same.envId, label }, without, flags)
  else await acceptReaders(session, {}, flags)
  if (without.length > 0 && !flags.grant) {
    await confirmOrRefuse(
      `locks ${whoLacks} out of ${place.label}, because they cannot read ${label}`,
      flags,
      `Run again with --grant to share ${label} with them, or with --yes to lock them out.`,
    )
  }
  const params = { orgId: place.orgId, envId: place.envId }
  const groups = position === undefined ? undefined : await acceptOrder(session, place, { ...group, position }, flags)
  const body = { groupId: group.id, ...(position === undefined ? {} : { position }) }
  const { typed } = typedOwner(session, place.orgId, groupSlug)
  const { group: composed } = await session.client.composition.set({ params, body }, { typed: { ...typed, groups } })
  if (same) await session.knownState.reading.composed({ environmentId: same.envId, label }, place.envId)
  note(
    `${place.label} includes the group ${group.slug}, at position ${composed.position}: a higher position overrides a lower one`,
  )
  if (!same)
    warn(
      `${label} does not exist yet, so nothing comes from it: \`skerry env create ${place.environment.slug} --group ${group.slug}\``,
    )
  else if (without.length > 0 && !flags.grant)
    warn(`${whoLacks} can no longer read ${place.label}, for lack of the key to ${label}: run this again with --grant`)
  return { json: { group: composed, withoutKey: flags.grant ? [] : without.map((one) => one.principalId) } }
}

/**
 * Shows the order of the groups after a group gets a position. Only the server knows positions, so in an organization with a
 * signed directory the user accepts the order that is signed.
 */
async function acceptOrder(
  session: Session,
  { orgId, envId, label }: Place,
  placed: { id: string; slug: string; position: number },
  flags: Confirmable,
): Promise<string[] | undefined> {
  if (!mustVerifyIn(session, orgId)) return undefined
  const { groups } = await session.client.composition.list({ params: { orgId, envId } })
  const others = groups.filter(({ groupId }) => groupId !== placed.id)
  if (others.length === 0) return undefined
  const order = slugsInOrder([...others, placed])
  await confirmOrRefuse(`gives ${label} these groups, of which a later one overrides: ${order.join(', ')}`, flags)
  return order
}

function parseSet(flags: SetOptions) {
  const position = flags.position === undefined ? undefined : Number(flags.position)
  if (position !== undefined && !Number.isSafeInteger(position))
    throw usage(`--position must be a whole number (you gave '${flags.position}')`)
  return { position }
}

/**
 * Lists the readers who have the environment's key and lack the group's. The server's own readers are left out, because
 * they get only the keys that they need.
 */
async function missingReaders(session: Session, place: Place, groupEnvId: string) {
  const { orgId, envId } = place
  const [readers, groupReaders] = await Promise.all([
    session.client.envs.grantees({ params: { orgId, envId } }),
    session.client.envs.grantees({ params: { orgId, envId: groupEnvId } }),
  ])
  const held = new Set(groupReaders.grantees.map((one) => one.principalId))
  return readers.grantees.filter(isClient).filter((one) => !held.has(one.principalId))
}

async function namesOf(session: Session, readers: Reader[]): Promise<string> {
  const ids = readers.map(({ principalId }) => principalId)
  const nameOf = await openDirectory(session, ids)
  return ids.map((id) => nameOf(id) ?? id).join(', ')
}

type Reader = Awaited<ReturnType<typeof missingReaders>>[number]

/**
 * Grants the group's key to the readers. It does not ask about readers that this machine knows for the application's
 * environment.
 */
async function grantReaders(
  session: Session,
  place: Place,
  { envId, label }: { envId: string; label: string },
  readers: Reader[],
  flags: ReaderFlags,
) {
  if (readers.length === 0) return void (await acceptReaders(session, {}, flags))
  const { orgId } = place
  const [own, { key }] = await Promise.all([
    openPlace(session, orgId, place.envId, place.label),
    openPlace(session, orgId, envId, label),
  ])
  const [source, shared] = await Promise.all([
    environmentShared(orgId, place.envId, own.key),
    environmentShared(orgId, envId, key),
  ])
  const receivers = { ...shared, source, what: `the key of ${label}`, readers }
  await (await acceptReaders(session, { receivers }, flags)).keep()
  const nameOf = await openDirectory(
    session,
    readers.map(({ principalId }) => principalId),
  )
  for (const reader of readers) {
    await grantEnvironment(session.client, { orgId, envId, ...reader }, key.bytes)
    note(`granted ${label} to ${nameOf(reader.principalId) ?? reader.principalId}`)
  }
  await noteReaders(session, shared, readers)
}

async function list({ session, place: { orgId, envId } }: AtPlace): Promise<Output> {
  const { groups } = await session.client.composition.list({ params: { orgId, envId } })
  return {
    json: { groups },
    text: () =>
      writeTable(
        ['position', 'slug', 'name'],
        groups.map((group) => [String(group.position), group.slug, group.name]),
        'no groups here yet; add one with `skerry compose set <group>`',
      ),
  }
}

async function remove(
  groupSlug: string,
  { session, flags, place: { orgId, envId, label } }: AtPlace<Confirmable>,
): Promise<Output> {
  const { groups } = await session.client.composition.list({ params: { orgId, envId } })
  const found = groups.find(({ groupId: id, slug: name }) => isNamed(groupSlug, 'group', { id, name }))
  if (!found) {
    const slugs = groups.map(({ slug }) => slug)
    const next = orNearest(groupSlug, slugs, 'see `skerry compose ls`')
    throw new Failure('notFound', `${groupSlug} is not composed into ${label}`, next)
  }
  checkKnownName(session, orgId, {
    kind: 'group',
    noun: 'group',
    wanted: groupSlug,
    id: found.groupId,
    name: found.slug,
    isSlug: true,
  })
  await confirmOrRefuse(`removes group ${found.slug} from ${label}`, flags)
  const { environments } = await session.client.groups.envs({ params: { orgId, groupId: found.groupId } })
  const params = { orgId, envId, groupId: found.groupId }
  const { typed } = typedOwner(session, orgId, groupSlug)
  await session.client.composition.delete({ params }, { typed })
  if (typed.owner !== undefined) noteRemoved(typed.owner, environments, envId)
  note(`took ${found.slug} out of ${label}`)
  return { json: { removed: found.groupId } }
}

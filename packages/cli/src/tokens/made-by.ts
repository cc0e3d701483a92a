import { openDirectory } from '../directory.ts'
import { toFailure } from '../failure.ts'
import { everyEntry } from '../holdings.ts'
import { profileOption, shellWord } from '../labels.ts'
import { note, warn } from '../output.ts'
import type { Session } from '../session.ts'
import { isLive, listTokens } from './find.ts'

// A service token or machine client still works after the person who made it was removed.

interface Credential {
  id: string
  name: string
}

/** The working service tokens and machine clients that a person made. A list is undefined if the caller may not see it. */
export interface MadeCredentials {
  tokens: Credential[] | undefined
  clients: Credential[] | undefined
}

/**
 * Lists the working credentials that a person made, also through another credential that the person made. Call it
 * before the person is removed, because people who leave by themselves can list nothing afterwards.
 */
export async function listMadeBy(session: Session, userId: string): Promise<MadeCredentials> {
  const { id: orgId } = await session.org()
  const made = await unlessFails(async () => {
    const creatorOf = await clientCreators(session)
    const { clients } = await session.client.machineClients.list({ params: { orgId } })
    return clients.filter(({ id }) => creatorOf(id) === userId)
  })
  const makers = new Set([userId, ...(made ?? []).map(({ id }) => id)])
  // A token is listed after the token that made it.
  const tokens = await unlessFails(async () =>
    (await listTokens(session)).filter(({ id, createdById }) => makers.has(createdById) && makers.add(id)),
  )
  return {
    tokens: tokens?.filter(isLive).map(({ id, name }) => ({ id, name })),
    clients: made?.filter(({ revokedAt }) => revokedAt === null).map(({ id, name }) => ({ id, name })),
  }
}

/** The removal of a person must not fail because a list is refused. */
async function unlessFails<T>(list: () => Promise<T[]>): Promise<T[] | undefined> {
  try {
    return await list()
  } catch {
    return undefined
  }
}

/** After a person was removed, names the credentials that the person made, with the commands that revoke them. */
export function hintRevoke(session: Session, label: string, { tokens, clients }: MadeCredentials): void {
  const steps = [
    ...(tokens ?? []).map(({ id }) => `skerry token revoke ${id}`),
    ...(clients ?? []).map(({ id }) => `skerry client revoke ${id}`),
  ].map((step) => `${step}${profileOption(session.settings.profile)}`)
  if (steps.length > 0) {
    const names = [
      ...(tokens ?? []).map(({ name }) => `the token ${name}`),
      ...(clients ?? []).map(({ name }) => `the machine client ${name}`),
    ]
    note(`${label} made ${names.join(', ')}, which still work and may be known to ${label}. Revoke them first:`)
    for (const step of steps) note(`  ${step}`)
  }
  if (tokens === undefined)
    warn(`the tokens that ${label} made are not known: an admin sees them with \`skerry token ls\``)
  if (clients === undefined)
    warn(
      `the machine clients that ${label} made are not known: an admin who is signed in as a person sees them with \`skerry client ls\``,
    )
}

/** Loads who made each machine client. Only the audit log stores it. */
export async function clientCreators(session: Session): Promise<(clientId: string) => string | null> {
  const { id: orgId } = await session.org()
  const entries = await everyEntry(session, orgId, { action: 'machine_client.created' })
  const creators = new Map(entries.map(({ resourceId, actorId }) => [resourceId, actorId]))
  return (clientId) => creators.get(clientId) ?? null
}

/** The id of the creator of a credential. A server of an earlier version does not say who made a token. */
type Maker = string | null | undefined

/** Loads the names of the creators of credentials, for people: `bob@example.com (removed)`. */
export async function openMakers(session: Session, ids: readonly Maker[]): Promise<(id: Maker) => string> {
  const nameOf = await openDirectory(
    session,
    ids.map((id) => id ?? null),
  )
  const isRemoved = await removedPeople(session)
  return (id) => {
    if (id == null) return ''
    const name = nameOf(id) ?? id
    return isRemoved(id) ? `${name} (removed)` : name
  }
}

async function removedPeople(session: Session): Promise<(id: Maker) => boolean> {
  const { id: orgId } = await session.org()
  const { members } = await session.client.orgs.members({ params: { orgId } })
  const present = new Set(members.map(({ userId }) => userId))
  return (id) => id?.startsWith('usr_') === true && !present.has(id)
}

/**
 * Finds the tokens among these readers that a removed person made, with words for the question about them. Only admins
 * can list tokens, so for other callers it finds none.
 */
export async function readersOfRemoved(
  session: Session,
  readers: readonly { principalId: string }[],
): Promise<Map<string, string>> {
  const tokenIds = new Set(readers.map(({ principalId }) => principalId).filter((id) => id.startsWith('skt_')))
  if (tokenIds.size === 0) return new Map()
  const tokens = await listTokens(session).catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
    return []
  })
  const isRemoved = await removedPeople(session)
  const found = tokens.filter(({ id, createdById }) => tokenIds.has(id) && isRemoved(createdById))
  const nameOf = await openDirectory(
    session,
    found.map(({ createdById }) => createdById),
  )
  return new Map(
    found.map(({ id, name, createdById }) => [
      id,
      `the token ${name} was made by ${nameOf(createdById) ?? createdById}, who was removed; to leave it out, run \`skerry token revoke ${shellWord(id)}\` first`,
    ]),
  )
}

import { readerWords } from '@skerry/contract/grants/readers'
import { limits } from '@skerry/contract/limits'
import { Failure, toFailure, usage } from './failure.ts'
import { checkTokenId } from './names.ts'
import { orNearest } from './nearest.ts'
import { everyRow } from './pages.ts'
import { listPlaces } from './places.ts'
import type { Session } from './session.ts'
import { listTokens } from './tokens/find.ts'

/** Returns the name that people use for an id; undefined if this credential may not know it, or if it was deleted. */
export type Directory = (id: string | null) => string | undefined

/**
 * Loads the names for the ids, whose prefixes say what to load. Names are only for people, so where the server refuses
 * them, commands show the ids alone.
 */
export async function openDirectory(session: Session, ids: readonly (string | null)[]): Promise<Directory> {
  const { client } = session
  const params = { orgId: (await session.org()).id }
  const sources: Record<string, () => Promise<(readonly [string, string])[]>> = {
    usr_: async () => {
      const named = (await client.orgs.members({ params })).members.map(
        ({ userId, email, name }) => [userId, email ?? name ?? userId] as const,
      )
      const isMember = (id: string | null) => !id?.startsWith('usr_') || named.some(([userId]) => userId === id)
      return ids.every(isMember) ? named : [...(await unlessRefused(() => listFormerMembers(session))), ...named]
    },
    skt_: async () => (await listTokens(session)).map(({ id, name }) => [id, name]),
    m2m_: async () => (await client.machineClients.list({ params })).clients.map(({ id, name }) => [id, name]),
    app_: async () => (await client.apps.list({ params })).apps.map(({ id, slug }) => [id, slug]),
    grp_: async () => (await client.groups.list({ params })).groups.map(({ id, slug }) => [id, slug]),
    env_: async () => (await listPlaces(session)).map(({ envId, label }) => [envId, label]),
    // The rotator has the id of its organization. Callers look up no organizations.
    org_: async () => [[params.orgId, readerWords.rotator]],
    syn_: async () =>
      (
        await everyRow(
          (at) => client.sync.connections({ params, query: at }),
          ({ connections }) => connections,
        )
      ).map(({ id, name }) => [id, `sync connection ${name}`]),
  }
  const kinds = [...new Set(ids.map((id) => id?.slice(0, 4) ?? ''))]
  const found = await Promise.all(
    kinds.map((kind) => (Object.hasOwn(sources, kind) ? unlessRefused(sources[kind]!) : [])),
  )
  const own = [session.principal.id, session.principal.name] as const
  const names = new Map([own, ...found.flat()])
  return (id) => names.get(id ?? '')
}

/**
 * Lists people who were removed, oldest first, with the address that they had. Only admins may read it. An entry of an
 * earlier release has no address.
 */
async function listFormerMembers({ client, org }: Session): Promise<(readonly [string, string])[]> {
  const params = { orgId: (await org()).id }
  const { entries } = await client.audit.list({ params, query: { action: 'member.removed', limit: limits.auditMax } })
  return entries.reverse().flatMap(({ resourceId, metadata: { email, name } }) => {
    const known = email ?? name
    return resourceId !== null && typeof known === 'string' ? [[resourceId, known] as const] : []
  })
}

/**
 * Finds the id of a member, service token or machine client that the user names by id, name or e-mail address.
 *
 * @param option the option that names it, for messages: `--by`.
 */
export async function principalIdOf(session: Session, wanted: string, option: string): Promise<string> {
  if (/^[a-z0-9]{2,3}_[0-9A-Za-z]{22}$/.test(wanted)) return wanted
  checkTokenId(wanted)
  const { client } = session
  const params = { orgId: (await session.org()).id }
  const [members, tokens, clients] = await Promise.all([
    unlessRefused(async () => (await client.orgs.members({ params })).members),
    unlessRefused(() => listTokens(session)),
    unlessRefused(async () => (await client.machineClients.list({ params })).clients),
  ])
  const found = [
    ...members.filter(({ email, name }) => email === wanted || name === wanted).map(({ userId }) => userId),
    ...[...tokens, ...clients].filter(({ name }) => name === wanted).map(({ id }) => id),
  ]
  if (found.length > 1) throw usage(`${option} ${wanted} names ${found.join(', ')}`, 'give one of these ids')
  if (found[0] !== undefined) return found[0]
  const former = (await unlessRefused(() => listFormerMembers(session))).findLast(([, name]) => name === wanted)
  if (former) return former[0]
  const what = `${option} ${wanted} is not a member, token or machine client that you can see`
  const names = [...members.map(({ email }) => email), ...[...tokens, ...clients].map(({ name }) => name)]
  const next = orNearest(wanted, names, 'see `skerry members ls`, `skerry token ls` and `skerry client ls`')
  throw new Failure('notFound', what, next)
}

/** Returns an empty list if this credential may not read it. */
export async function unlessRefused<T>(ask: () => Promise<T[]>): Promise<T[]> {
  try {
    return await ask()
  } catch (error) {
    if (toFailure(error).kind !== 'refused') throw error
    return []
  }
}

import { toFailure } from './failure.ts'
import { listPlaces } from './places.ts'
import type { Session } from './session.ts'

/** What people call what an id names; undefined where this credential may not know, or it is gone. */
export type Directory = (id: string | null) => string | undefined

/** Asks for what the ids need, by what they begin with. Names are for people alone: where they are refused, ids stand alone. */
export async function openDirectory(session: Session, ids: readonly (string | null)[]): Promise<Directory> {
  const { client } = session
  const params = { orgId: (await session.org()).id }
  const sources: Record<string, () => Promise<(readonly [string, string])[]>> = {
    usr_: async () =>
      (await client.orgs.members({ params })).members.map(({ userId, email, name }) => [
        userId,
        email ?? name ?? userId,
      ]),
    skt_: async () => (await client.tokens.list({ params })).tokens.map(({ id, name }) => [id, name]),
    m2m_: async () => (await client.machineClients.list({ params })).clients.map(({ id, name }) => [id, name]),
    app_: async () => (await client.apps.list({ params })).apps.map(({ id, slug }) => [id, slug]),
    grp_: async () => (await client.groups.list({ params })).groups.map(({ id, slug }) => [id, slug]),
    env_: async () => (await listPlaces(session)).map(({ envId, label }) => [envId, label]),
  }
  const kinds = [...new Set(ids.map((id) => id?.slice(0, 4) ?? ''))]
  const found = await Promise.all(
    kinds.map((kind) => (Object.hasOwn(sources, kind) ? unlessRefused(sources[kind]!) : [])),
  )
  const names = new Map(found.flat())
  return (id) => names.get(id ?? '')
}

async function unlessRefused<T>(ask: () => Promise<T[]>): Promise<T[]> {
  try {
    return await ask()
  } catch (error) {
    if (toFailure(error).kind !== 'refused') throw error
    return []
  }
}

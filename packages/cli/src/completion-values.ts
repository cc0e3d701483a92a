import type { Kind } from './completion.ts'
import { readCredentials } from './credentials.ts'
import { findCurrent, findCurrentParent } from './current-place.ts'
import { findApp, usualApp } from './places.ts'
import { openSession, type Session } from './session.ts'
import type { Flags } from './settings.ts'

const ask: Record<Exclude<Kind, 'profile'>, (session: Session, flags: Flags) => Promise<string[]>> = {
  app: async (session) => {
    const { apps } = await session.client.apps.list({ params: await inOrg(session) })
    return slugs(apps)
  },
  group: async (session) => {
    const { groups } = await session.client.groups.list({ params: await inOrg(session) })
    return slugs(groups)
  },
  environment: async (session, { group }) => {
    const { client } = session
    if (group === undefined) {
      const { orgId, id: appId } = await findApp(session, await usualApp(session))
      return slugs((await client.apps.envs({ params: { orgId, appId } })).environments)
    }
    const { groups } = await client.groups.list({ params: await inOrg(session) })
    const found = groups.find(({ slug }) => slug === group)
    if (!found) return []
    return slugs((await client.groups.envs({ params: { orgId: found.orgId, groupId: found.id } })).environments)
  },
  branch: async (session, flags) => {
    const { orgId, envId } = await findCurrentParent(session, flags)
    return slugs((await session.client.branches.list({ params: { orgId, envId } })).branches)
  },
  secret: async (session, flags) => {
    const { orgId, envId } = await findCurrent(session, flags)
    return (await session.client.secrets.list({ params: { orgId, envId } })).secrets.map(({ name }) => name)
  },
}

const inOrg = async (session: Session) => ({ orgId: (await session.org()).id })
const slugs = (rows: readonly { slug: string }[]) => rows.map(({ slug }) => slug)

/**
 * Returns the values of this kind, for the options that were already typed. On failure the list is empty and nothing is
 * printed.
 */
export async function valuesOf(kind: Kind, typed: readonly string[]): Promise<string[]> {
  try {
    if (kind === 'profile') return Object.keys(readCredentials().profiles)
    const flags = flagsIn(typed)
    return await ask[kind](await openSession(flags), flags)
  } catch {
    return []
  }
}

function flagsIn(typed: readonly string[]): Flags {
  const flags: Record<string, string> = {}
  for (const [at, word] of typed.entries()) {
    const [, name, given] = /^--(app|env|group|branch|org|url|profile)(?:=(.*))?$/.exec(word) ?? []
    const value = given ?? typed[at + 1]
    if (name !== undefined && value !== undefined) flags[name] = value
  }
  return flags
}

import { queryOptions } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { api } from '../api.ts'
import type { Entry } from '../audit/queries.ts'
import { forgetReader } from '../envs/known-readers.ts'
import { fetchCached } from '../queries.ts'
import { membersQuery, tokensQuery } from '../secrets/use-name-of.ts'
import { environmentLabelsQuery } from './environment-labels.ts'
import { nameOfMember } from './member.ts'

// A removed member, a revoked token, a person who left a team or one whose temporary access ended may have kept keys.
// The environments to re-key come from the audit log, which
// records who had which key and which environments were re-keyed since. So the list survives a reload, and several
// removals add up.

/** An environment that needs a new key. */
export interface RekeyDue {
  environmentId: string
  label: string
  /** The audit entries of the removals. */
  entryIds: string[]
  /** The names of the removed members and tokens, as far as known. */
  who: string[]
}

const pageSize = 200

/** The actions by which people of a team lose keys. */
const teamActions = ['team.deleted', 'team.member_removed', 'team.environment_removed']

/** For owners and admins. */
export const rekeyDueQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'rekey-due'],
    queryFn: async ({ signal }): Promise<RekeyDue[]> => {
      const load = async (action: string) =>
        (await api.audit.list({ params: { orgId }, query: { action, limit: pageSize } }, { signal })).entries
      const [places, { members }, { tokens: all }, rekeyed, removed, tokens, expired, teams, ...lost] =
        await Promise.all([
          fetchCached(environmentLabelsQuery(orgId)),
          fetchCached(membersQuery(orgId)),
          fetchCached(tokensQuery(orgId)),
          load('env.rekeyed'),
          load('member.removed'),
          load('token.revoked'),
          load('key.expired'),
          Promise.all(teamActions.map(load)),
          load('user.keys_replaced'),
          load('key.revoked'),
        ])
      const labels = new Map(places.map(({ id, label }) => [id, label]))
      const names = new Map([
        ...members.map((member) => [member.userId, nameOfMember(member)] as const),
        ...all.map(({ id, name }) => [id, `the token “${name}”`] as const),
      ])
      return dueOf({ labels, names }, rekeyed, [...removed, ...tokens, ...expired, ...teams.flat()], lost.flat())
    },
  })

/** @param lost entries about keys that a person or token lost before their access ended */
function dueOf(
  { labels, names }: Record<'labels' | 'names', ReadonlyMap<string, string>>,
  rekeyed: Entry[],
  ended: Entry[],
  lost: Entry[],
): RekeyDue[] {
  const lastRekey = new Map<string, number>()
  for (const { resourceId, createdAt } of rekeyed)
    lastRekey.set(resourceId ?? '', Math.max(Date.parse(createdAt), lastRekey.get(resourceId ?? '') ?? 0))
  const due = new Map<string, RekeyDue>()
  for (const entry of ended)
    for (const [environmentId, lostAt] of lossesOf(entry, lost)) {
      const label = labels.get(environmentId)
      // A deleted environment has no key.
      if (label === undefined || (lastRekey.get(environmentId) ?? 0) > Date.parse(lostAt)) continue
      const before = due.get(environmentId) ?? { environmentId, label, entryIds: [], who: [] }
      const who = [...new Set([...before.who, nameOfEnded(entry, names)])]
      due.set(environmentId, { ...before, entryIds: [...before.entryIds, entry.id], who })
    }
  return [...due.values()].sort((a, b) => (a.label < b.label ? -1 : 1))
}

/** The environments whose key somebody lost when their access ended, or before, each with the last loss. */
function lossesOf(entry: Entry, lost: Entry[]): Map<string, string> {
  const isEarlier = (one: Entry) => holderOf(one) === entry.resourceId && one.createdAt <= entry.createdAt
  const losses = [...lost.filter(isEarlier), entry].sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
  return new Map(losses.flatMap((one) => environmentsOf(one).map((id) => [id, one.createdAt] as const)))
}

const holderOf = ({ action, resourceId, metadata }: Entry): unknown =>
  action === 'key.revoked' ? metadata.principalId : resourceId

const environmentsOf = ({ metadata: { environmentId, environmentIds } }: Entry): string[] =>
  (Array.isArray(environmentIds) ? environmentIds : [environmentId]).filter((id) => typeof id === 'string')

/** Names of people that this page has removed, because the server does not send the name of a former member. */
const removedHere = new Map<string, string>()

function nameOfEnded(
  { action, resourceId, metadata: { name, principalId, userId } }: Entry,
  names: ReadonlyMap<string, string>,
): string {
  if (action === 'key.expired') return names.get(String(principalId)) ?? 'a former member or token'
  if (action === 'token.revoked') return `the token ${typeof name === 'string' ? `“${name}”` : ''}`.trim()
  if (action === 'team.member_removed') return names.get(String(userId)) ?? 'a former member'
  if (teamActions.includes(action)) return 'people of a team'
  return removedHere.get(resourceId ?? '') ?? 'a former member'
}

/** Ends the access of a member or token. `rekeyDueQuery` then lists the environments whose keys they had. */
export async function endAccess(who: { id: string; name: string }, end: () => Promise<unknown>) {
  await end()
  removedHere.set(who.id, who.name)
  forgetReader(who.id)
}

const storageName = 'skerry-rekey-dismissed'
const listeners = new Set<() => void>()
let dismissed = readDismissed()

function readDismissed(): ReadonlySet<string> {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(storageName) ?? '[]')
    return new Set(Array.isArray(ids) ? ids : [])
  } catch {
    return new Set()
  }
}

/** Remembers in this browser that the user dismissed these removals. */
export function dismissRemovals(entryIds: readonly string[]): void {
  dismissed = new Set([...readDismissed(), ...entryIds])
  localStorage.setItem(storageName, JSON.stringify([...dismissed]))
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Returns the audit entry IDs of removals that this person dismissed. */
export const useDismissed = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => dismissed)

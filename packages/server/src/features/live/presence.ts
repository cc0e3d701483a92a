import { limits } from '@skerry/contract/limits'
import type { Presence } from '@skerry/contract/live/events'

interface Person {
  id: string
  name: string
}

type Looking = Map<string, { name: string; untilMs: number }>

/** Remembers who looks at which application, in the memory of this server and for some seconds. */
export interface PresenceBoard {
  look(orgId: string, applicationId: string, person: Person, nowMs: number): void
  leave(orgId: string, applicationId: string, userId: string): void
  /** Removes a person from all applications of an organization. */
  remove(orgId: string, userId: string): void
  /** Lists the applications of an organization at which somebody looks. */
  of(orgId: string): Presence[]
  expire(nowMs: number): void
  /** Forgets an organization that nobody watches. */
  forget(orgId: string): void
  clear(): void
}

/** @param tell called with the people at an application, whenever they change */
export function openPresence(tell: (orgId: string, presence: Presence) => void): PresenceBoard {
  const ofOrg = new Map<string, Map<string, Looking>>()
  const presenceOf = (applicationId: string, looking: Looking): Presence => ({
    applicationId,
    people: [...looking].slice(0, limits.presencePeopleMax).map(([id, { name }]) => ({ id, name })),
  })
  const removeIf = (orgId: string, applicationId: string, isGone: (id: string, untilMs: number) => boolean) => {
    const looking = ofOrg.get(orgId)?.get(applicationId)
    if (!looking) return
    const before = looking.size
    for (const [id, { untilMs }] of looking) if (isGone(id, untilMs)) looking.delete(id)
    if (looking.size === before) return
    if (looking.size === 0) ofOrg.get(orgId)?.delete(applicationId)
    tell(orgId, presenceOf(applicationId, looking))
  }
  return {
    look(orgId, applicationId, { id, name }, nowMs) {
      const apps = ofOrg.get(orgId) ?? new Map<string, Looking>()
      ofOrg.set(orgId, apps)
      const looking: Looking = apps.get(applicationId) ?? new Map()
      apps.set(applicationId, looking)
      const before = looking.get(id)
      looking.set(id, { name, untilMs: nowMs + limits.presenceSeconds * 1000 })
      if (before?.name !== name) tell(orgId, presenceOf(applicationId, looking))
    },
    leave: (orgId, applicationId, userId) => removeIf(orgId, applicationId, (id) => id === userId),
    remove(orgId, userId) {
      for (const applicationId of [...(ofOrg.get(orgId)?.keys() ?? [])])
        removeIf(orgId, applicationId, (id) => id === userId)
    },
    of: (orgId) => [...(ofOrg.get(orgId) ?? [])].map(([id, looking]) => presenceOf(id, looking)),
    expire(nowMs) {
      for (const [orgId, apps] of ofOrg)
        for (const applicationId of [...apps.keys()]) removeIf(orgId, applicationId, (_, untilMs) => untilMs <= nowMs)
    },
    forget: (orgId) => void ofOrg.delete(orgId),
    clear: () => ofOrg.clear(),
  }
}

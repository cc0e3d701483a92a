import { createSkerry } from '@skerry/sdk'
import type { Rollback } from '@skerry/sdk/rollback'
import { environmentKey } from '@skerry/sdk/secrets'
import { memoryHere } from './known-state.ts'
import { note } from './output.ts'
import { boundPlace, findPlace, namedPlace, type Place } from './places.ts'
import { type Session, userAgent } from './session.ts'
import type { Flags } from './settings.ts'

/** Looks at an environment as its commands would -> what is otherwise than before, and nothing is remembered. */
export async function changesOf(session: Session, asked: Asked): Promise<{ place: Place; changes: Rollback[] }> {
  const found: Rollback[] = []
  const store = { ...memoryHere(), write: async () => {} }
  const place = await lookAt(session.looking({ store, onRollback: ({ changes }) => found.push(...changes) }), asked)
  // A key that changed shows in every look.
  return { place, changes: found.filter((one, at) => found.findIndex((other) => isSame(one, other)) === at) }
}

const isSame = (a: Rollback, b: Rollback) =>
  a.kind === b.kind && a.environmentId === b.environmentId && (a.kind === 'key_changed' || a.what === b.what)

/** Takes what the server shows now as what is to be expected. */
export async function acceptNow(session: Session, asked: Asked): Promise<void> {
  await lookAt(session.looking({ onRollback: ({ message }) => note(`accepted: ${message}`) }), asked)
}

interface Asked {
  flags: Flags
  /** Groups at another environment, as the API writes it: `shared:staging`. */
  with?: string[]
}

/** What commands look at, one after the other: which environment is meant, what a program gets, what is stored there. */
async function lookAt(session: Session, asked: Asked): Promise<Place> {
  const place = await placeOf(session, asked.flags)
  const { client, settings, knownState } = session
  const { orgId, envId, parentId, label } = place
  if (place.kind !== 'group') {
    const { url: baseUrl, allowInsecure } = settings
    const branch = place.kind === 'branch' ? envId : undefined
    const reader = { ...(await session.reader()), baseUrl, allowInsecure, userAgent, knownState: knownState.reading }
    await createSkerry({ ...reader, env: parentId, branch, with: asked.with }).resolve()
  }
  const holder = { ...(await session.key()), knownState: undefined }
  const [key, { secrets }] = await Promise.all([
    environmentKey(client, { orgId, envId }, holder),
    client.secrets.list({ params: { orgId, envId } }),
  ])
  await knownState.reading.check({ environments: [{ environmentId: envId, label, key: key.bytes, secrets }] })
  return place
}

/** The same that `skerry run` would take: a bound token goes before a project's file. */
async function placeOf(session: Session, flags: Flags): Promise<Place> {
  const { scopeIsExplicit, branch } = session.settings
  const bound = scopeIsExplicit || flags.group !== undefined ? undefined : await boundPlace(session, branch)
  return bound ?? findPlace(session, namedPlace(session, flags))
}

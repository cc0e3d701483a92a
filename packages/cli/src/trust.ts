import { createSkerry } from '@skerry/sdk'
import type { Rollback } from '@skerry/sdk/rollback'
import { environmentKey } from '@skerry/sdk/secrets'
import { findNamed } from './current-place.ts'
import { Failure, isBoundElsewhere, lacksKey } from './failure.ts'
import { mustVerify } from './known-directories.ts'
import { memoryHere } from './known-state.ts'
import { note } from './output.ts'
import type { Place } from './places.ts'
import { refusalAt } from './run/refusal.ts'
import { ownOverrides, type Session, userAgent } from './session.ts'
import type { Flags } from './settings.ts'

/** Reads an environment as other commands would, and returns what has changed. It remembers nothing. */
export async function changesOf(session: Session, asked: Asked): Promise<{ place: Place; changes: Rollback[] }> {
  const found: Rollback[] = []
  const store = { ...memoryHere(), write: async () => {} }
  const place = await lookAt(session.looking({ store, onRollback: ({ changes }) => found.push(...changes) }), asked)
  // Every check reports a changed key, so duplicates are removed.
  return { place, changes: found.filter((one, at) => found.findIndex((other) => isSame(one, other)) === at) }
}

const isSame = (a: Rollback, b: Rollback) =>
  a.kind === b.kind && a.environmentId === b.environmentId && (a.kind === 'key_changed' || a.what === b.what)

/** Accepts what the server shows now as the known state. */
export async function acceptNow(session: Session, asked: Asked): Promise<void> {
  await lookAt(session.looking({ onRollback: ({ message }) => note(`accepted: ${message}`) }), asked)
}

interface Asked {
  flags: Flags
  /** The environment, as the command line names it. Without it, options and settings name it. */
  named?: string | undefined
  /** The environment, if the caller has found it and compared its name already. */
  place?: Place
  /** Groups at another environment, as the API writes it: `shared:staging`. */
  with?: string[]
}

/**
 * Runs the checks of all commands: which environment the name means, which values a program gets, which secrets are
 * stored.
 */
async function lookAt(session: Session, asked: Asked): Promise<Place> {
  const place = asked.place ?? (await findNamed(session, asked.named, asked.flags))
  try {
    await checkAsRead(session, asked, place)
  } catch (error) {
    if (!(error instanceof Error) || error instanceof Failure) throw error
    throw lacksKey(error) || isBoundElsewhere(error) ? await refusalAt(error, session, place) : error
  }
  return place
}

async function checkAsRead(session: Session, asked: Asked, place: Place): Promise<void> {
  const { client, settings, knownState } = session
  const { orgId, envId, parentId, label } = place
  if (place.kind !== 'group') {
    const { url: baseUrl, allowInsecure } = settings
    const branch = place.kind === 'branch' ? envId : undefined
    const directory = mustVerify(session)
      ? await (await import('./trust/reading.ts')).directorySettings(session, label)
      : undefined
    const reader = {
      ...(await session.reader()),
      directory,
      baseUrl,
      allowInsecure,
      userAgent,
      knownState: knownState.reading,
    }
    const overrides = await ownOverrides(session)
    await createSkerry({ ...reader, overrides, env: parentId, branch, with: asked.with }).resolve()
  }
  const holder = { ...(await session.key()), knownState: undefined }
  const [key, { secrets }] = await Promise.all([
    environmentKey(client, { orgId, envId }, holder),
    client.secrets.list({ params: { orgId, envId } }),
  ])
  await knownState.reading.check({ environments: [{ environmentId: envId, label, key: key.bytes, secrets }] })
}

import { tellEntry } from '@skerry/contract/audit/sentence'
import { follow } from '@skerry/sdk/live'
import { note, writeLine } from '../output.ts'
import type { Session } from '../session.ts'
import { shownTime } from '../times.ts'
import type { Happening } from './happening.ts'
import { namesFor, readActivity } from './read.ts'
import type { Scope } from './scope.ts'

/** Changes that come together are read with one request. */
const togetherMs = 200
const readMax = 500
/** An entry may be committed this long after its instant. Within this time it is read again, and written once. */
const lateMs = 60_000

/**
 * Writes what happens from now on, one line each, until the program is ended. An event of the stream has ids alone, so each
 * one only says when to read again.
 */
export async function followActivity(
  session: Session,
  scope: Scope,
  since: string | undefined,
  isJson: boolean,
): Promise<void> {
  // The clock of the server counts: everything that it lists now was before.
  const before = since === undefined ? (await readActivity(session, scope, { limit: readMax, since })).happenings : []
  const written = new Set(before.map(keyOf))
  let newest = since ?? before[0]?.createdAt
  const writeNew = async () => {
    const from = newest === undefined ? undefined : new Date(Date.parse(newest) - lateMs).toISOString()
    const { happenings, names } = await readActivity(session, scope, { limit: readMax, since: from })
    if (happenings.length === readMax) note(`these are the newest ${readMax} events; \`skerry audit\` shows the others`)
    const isFresh = (one: Happening) => !written.has(keyOf(one)) && (since === undefined || one.createdAt >= since)
    const fresh = happenings.toReversed().filter(isFresh)
    const nameOf = await namesFor(session, fresh, new Map([...names, ...scope.labels]))
    for (const one of fresh) {
      const sentence = tellEntry(one, nameOf)
      writeLine(isJson ? JSON.stringify({ ...one, sentence }) : `${shownTime(one.createdAt)}  ${sentence}`)
    }
    newest = happenings[0]?.createdAt ?? newest
    written.clear()
    for (const one of happenings) written.add(keyOf(one))
  }
  const stopping = new AbortController()
  const reading = openTurns(writeNew, (error) => stopping.abort(error))
  note(`following ${scope.label}; press Ctrl-C to stop`)
  await follow(session.client, {
    orgId: scope.orgId,
    signal: stopping.signal,
    onGap: reading,
    onChange: reading,
    onLost: () => note('the connection broke; trying again'),
  })
  stopping.signal.throwIfAborted()
}

const keyOf = ({ createdAt, action, resourceId, actorId }: Happening) =>
  [createdAt, action, resourceId, actorId].join(' ')

/** Runs the work soon after each call, once for calls that come together, and never twice at a time. */
function openTurns(work: () => Promise<void>, fail: (error: unknown) => void): () => void {
  let isDue = false
  let isRunning = false
  const run = async () => {
    isRunning = true
    while (isDue) {
      await new Promise((resolve) => setTimeout(resolve, togetherMs))
      isDue = false
      await work()
    }
    isRunning = false
  }
  return () => {
    isDue = true
    if (!isRunning) run().catch(fail)
  }
}

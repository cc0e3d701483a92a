import { tellEntry } from '@skerry/contract/audit/sentence'
import { instantOf } from '../audit/filters.ts'
import { usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { parseLimit } from '../options.ts'
import { note, type Output, writeLine } from '../output.ts'
import type { Flags } from '../settings.ts'
import { notedTime, shownTime } from '../times.ts'
import { count } from '../units.ts'
import type { Wanted } from './happening.ts'
import { namesFor, readActivity } from './read.ts'
import { findScope } from './scope.ts'

interface Options extends Flags {
  limit: string
  follow?: boolean
  since?: string
}

export async function activity({
  session,
  flags,
  input,
}: SignedIn<Options, typeof parseActivity>): Promise<Output | undefined> {
  const scope = await findScope(session, flags)
  if (flags.follow) {
    const { followActivity } = await import('./follow.ts')
    await followActivity(session, scope, input.since, flags.json === true)
    return undefined
  }
  // Reads one event more than it shows, to learn whether there are more.
  const found = await readActivity(session, scope, { ...input, limit: input.limit + 1 })
  const { source, searchedUntil, names } = found
  const happenings = found.happenings.slice(0, input.limit)
  const nameOf = await namesFor(session, happenings, new Map([...names, ...scope.labels]))
  const told = happenings.map((one) => ({ ...one, sentence: tellEntry(one, nameOf) }))
  return {
    json: { scope: scope.label, source, searchedUntil, activity: told },
    text: () => {
      const times = told.map(({ createdAt }) => shownTime(createdAt))
      const width = Math.max(0, ...times.map((time) => time.length))
      for (const [at, { sentence }] of told.entries()) writeLine(`${times[at]!.padEnd(width)}  ${sentence}`)
    },
    after: () => {
      if (told.length === 0) note(`nothing happened in ${scope.label}${input.since === undefined ? '' : ' since then'}`)
      if (found.happenings.length > told.length)
        note(`these are the newest ${count(told.length, 'event')}; --limit shows more`)
      if (source === 'secrets') note('only admins may read the audit log; these are changes of secrets, and proposals')
      if (searchedUntil !== null) note(`searched back to ${notedTime(searchedUntil)}; \`skerry audit\` goes further`)
    },
  }
}

const limitMax = 500

export function parseActivity(flags: Options): Wanted {
  const limit = parseLimit(flags.limit, 1)
  if (limit > limitMax) throw usage(`--limit takes at most ${limitMax}`, 'see `skerry audit` for more')
  const since = flags.since === undefined ? undefined : instantOf(flags.since, '--since')
  if (since !== undefined && Number.isNaN(Date.parse(since)))
    throw usage(`--since ${flags.since} is no instant`, 'write 2026-10-04T12:00:00Z, or a duration such as 2h')
  return { limit, since }
}

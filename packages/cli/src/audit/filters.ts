import { auditActions } from '@skerry/contract/actions'
import type { Command } from 'commander'
import { principalIdOf } from '../directory.ts'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'

/** The filters for entries of the audit log. */
export interface FilterFlags extends Flags {
  action?: string
  actor?: string
  resourceType?: string
  resource?: string
  request?: string
  text?: string
  since?: string
  until?: string
}

/** The limit of the audit log, in the words of its help. */
export const notRecorded = 'reads that were allowed are not recorded, only changes and denied reads'

export const filtering = (command: Command): Command =>
  command
    .option('--action <name>', 'for example secret.written')
    .option('--actor <who>', 'by this member, token or machine client: a name, an e-mail address or an id')
    .option('--resource-type <type>', 'for example environment')
    .option('--resource <id>', 'on this one')
    .option('--request <id>', 'by this request: the id that the server’s log and its answers name')
    .option('--text <text>', 'with this in the name of who did it, of what it is about, or in what it tells')
    .option('--since <when>', 'from then on: 2026-10-04T12:00:00Z, or so long ago, such as 2h')
    .option('--until <when>', 'before then')

/** The filters of a request. `--actor` may be a name, which is looked up. */
export async function filtersOf(session: Session, flags: FilterFlags) {
  const { actor } = flags
  if (actor === undefined) return filtersWithout(flags)
  return { ...filtersWithout(flags), actorId: await principalIdOf(session, actor, '--actor') }
}

/** Refuses invalid filters before anything is requested. */
export const checkFilters = (flags: FilterFlags): void => void filtersWithout(flags)

/** Words of actions that people look for, although the audit log has no entry for an allowed read. */
const readWords = new Set([
  'read',
  'reads',
  'view',
  'viewed',
  'access',
  'accessed',
  'resolve',
  'resolved',
  'get',
  'reveal',
  'revealed',
])

function filtersWithout({ action, resourceType, resource, request, text, since, until }: FilterFlags) {
  if (action !== undefined && !Object.hasOwn(auditActions, action)) {
    if (action.split(/[._]/).some((word) => readWords.has(word)))
      throw usage(
        `there is no action '${action}': ${notRecorded}`,
        '`skerry audit ls --action env.resolve_denied` shows denied reads, and `skerry env readers` who can read',
      )
    throw usage(
      `there is no action '${action}'`,
      'write an action like secret.written; `skerry audit ls --json` shows the actions in your audit log',
    )
  }
  return {
    ...(action === undefined ? {} : { action }),
    ...(resourceType === undefined ? {} : { resourceType }),
    ...(resource === undefined ? {} : { resourceId: resource }),
    ...(request === undefined ? {} : { requestId: request }),
    ...(text === undefined ? {} : { text }),
    ...(since === undefined ? {} : { since: instantOf(since, '--since') }),
    ...(until === undefined ? {} : { until: instantOf(until, '--until') }),
  }
}

/** Reads an instant, or a duration, which means that long ago. */
export function instantOf(text: string, option: string): string {
  if (!text.includes('T')) return new Date(Date.now() - parseDuration(text, option) * 1000).toISOString()
  if (!Number.isNaN(Date.parse(text))) return text
  throw usage(`${option} must be a time such as 2026-01-31T08:00:00Z, or a duration such as 7d (you gave '${text}')`)
}

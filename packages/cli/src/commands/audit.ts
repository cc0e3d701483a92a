import type { audit as endpoints } from '@skerry/contract/audit'
import { auditActions } from '@skerry/contract/audit-actions'
import type { Answer } from '@skerry/contract/endpoint'
import type { Command } from 'commander'
import { verifyArchive } from '../audit/archive.ts'
import { checkpoint, verify } from '../audit/verify.ts'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import { common, leaf, parseLimit } from '../options.ts'
import { writeLine, writeTable } from '../output.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

interface Options extends Flags {
  action?: string
  actor?: string
  resourceType?: string
  resource?: string
  request?: string
  text?: string
  since?: string
  until?: string
  limit: string
}

export function register(command: Command): void {
  common(command)
    .option('--action <name>', 'for example secret.written')
    .option('--actor <id>', 'by this user, token or machine client')
    .option('--resource-type <type>', 'for example environment')
    .option('--resource <id>', 'on this one')
    .option('--request <id>', 'by this request: the id that the server’s log and its answers name')
    .option('--text <text>', 'with this in the name of who did it, of what it is about, or in what it tells')
    .option('--since <when>', 'from then on: 2026-10-04T12:00:00Z, or so long ago, such as 2h')
    .option('--until <when>', 'before then')
    .option('--limit <number>', 'newest so many; 0: all', '50')
    .addHelpText('after', '\nWith --json, one entry per line.')
    .action(audit)
  leaf(command, 'verify', 'Prove that nothing of the trail was changed, removed or put between')
    .option('--archive <paths...>', 'files of archived entries, to be held against the trail')
    .action(verify)
  leaf(command, 'verify-archive <path>', 'Check a file of archived entries without any server')
    .requiredOption('--key <publicKey>', 'key of the server that made it')
    .action(verifyArchive)
  leaf(command, 'checkpoint', 'Print the signed note about the trail')
    .option('--compare <path>', 'hold it against one that somebody else was shown; - for stdin')
    .action(checkpoint)
}

const pageMax = 200

type Page = Answer<typeof endpoints.list>

async function audit(flags: Options): Promise<void> {
  if (flags.action !== undefined && !Object.hasOwn(auditActions, flags.action)) {
    throw usage(
      `there is no action '${flags.action}'`,
      'actions are named like secret.written; --json shows those that happened',
    )
  }
  const limit = parseLimit(flags.limit, 0)
  const filters = filtersOf(flags)
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  let left = limit || Number.POSITIVE_INFINITY
  let cursor: string | null = null
  const rows: string[][] = []
  do {
    const page: Page = await session.client.audit.list({
      params: { orgId },
      query: { ...filters, limit: Math.min(left, pageMax), ...(cursor === null ? {} : { cursor }) },
    })
    const { entries, names, nextCursor } = page
    const nameOf = (id: string | null, type: string | null) => names[id ?? ''] ?? type ?? ''
    for (const entry of entries.slice(0, left)) {
      const { createdAt, action, actorType, actorId, resourceType, resourceId } = entry
      if (flags.json) writeLine(JSON.stringify(entry))
      else
        rows.push([
          ...[createdAt, action],
          ...[nameOf(actorId, actorType), actorId ?? ''],
          ...[nameOf(resourceId, resourceType), resourceId ?? ''],
        ])
    }
    left -= entries.length
    cursor = nextCursor
  } while (cursor !== null && left > 0)
  if (!flags.json) writeTable(['when', 'action', 'by', 'id', 'on', 'id'], rows)
}

/** An instant goes as it is: the server says what is wrong with one. */
const instantOf = (text: string): string =>
  text.includes('T') ? text : new Date(Date.now() - parseDuration(text) * 1000).toISOString()

function filtersOf({ action, actor, resourceType, resource, request, text, since, until }: Options) {
  return {
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actorId: actor }),
    ...(resourceType === undefined ? {} : { resourceType }),
    ...(resource === undefined ? {} : { resourceId: resource }),
    ...(request === undefined ? {} : { requestId: request }),
    ...(text === undefined ? {} : { text }),
    ...(since === undefined ? {} : { since: instantOf(since) }),
    ...(until === undefined ? {} : { until: instantOf(until) }),
  }
}

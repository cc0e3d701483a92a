import type { Command } from 'commander'
import { verifyArchive } from '../audit/archive.ts'
import { placeNamer } from '../audit/environment-path.ts'
import { checkFilters, type FilterFlags, filtering, filtersOf, notRecorded } from '../audit/filters.ts'
import { checkTimeline, timeline } from '../audit/timeline.ts'
import { checkKey, checkpoint, verify } from '../audit/verify.ts'
import { inOrg, type SignedIn, signedIn, withoutSession } from '../frame.ts'
import { explained, leaf, parseLimit } from '../options.ts'
import { note, writeLine, writeTable } from '../output.ts'
import { eachPage } from '../pages.ts'
import { notedTime, shownMoment } from '../times.ts'
import { count } from '../units.ts'

interface Options extends FilterFlags {
  limit: string
}

export function register(command: Command): void {
  explained(command, `In the audit log, ${notRecorded}. \`skerry env readers\` shows who can read an environment.`)
  filtering(leaf(command, 'ls', 'List entries of the audit log, newest first'))
    .option('--limit <number>', 'at most this many; 0 is all', '50')
    .action(signedIn(audit, parseAudit))
  filtering(leaf(command, 'timeline', 'Count the entries of each hour or day')).action(
    signedIn(timeline, checkTimeline),
  )
  leaf(command, 'verify', 'Check that nobody changed, removed or inserted an entry')
    .option('--archive <paths...>', 'files of archived entries to compare with the log')
    .option('--restored', 'start anew from the log of a server that was restored, or that has a new signing key')
    .option('--key <publicKey>', 'earlier public key of the server, with which archives are signed')
    .action(inOrg(verify, checkKey))
  leaf(command, 'verify-archive <path>', 'Check a file of archived entries without a server')
    .requiredOption('--key <publicKey>', 'public key of the server that wrote the file')
    .action(withoutSession(verifyArchive))
  leaf(command, 'checkpoint', 'Print the signed checkpoint: a hash over all entries of the audit log')
    .option('--compare <path>', 'compare with the checkpoint of another person; use - for stdin')
    .option('--key <publicKey>', 'earlier public key of the server, with which that checkpoint is signed')
    .action(inOrg(checkpoint, checkKey))
}

const pageMax = 200

async function audit({ session, flags, input: { limit } }: SignedIn<Options, typeof parseAudit>): Promise<void> {
  const filters = await filtersOf(session, flags)
  const { id: orgId } = await session.org()
  let left = limit || Number.POSITIVE_INFINITY
  let hasMore = false
  const rows: string[][] = []
  const placeOf = placeNamer()
  const pages = eachPage((at) =>
    session.client.audit.list({ params: { orgId }, query: { ...filters, limit: Math.min(left, pageMax), ...at } }),
  )
  for await (const page of pages) {
    // An older server sends no names, and searches to the end before it answers.
    const { entries, names = {}, environments, nextCursor = null, searchedUntil } = page
    if (searchedUntil) note(`searched back to ${notedTime(searchedUntil)}, going on`)
    const nameOf = (id: string | null, type: string | null) => names[id ?? ''] ?? type ?? ''
    for (const entry of entries.slice(0, left)) {
      const { createdAt, action, actorType, actorId, resourceType, resourceId } = entry
      const environment = environments?.[String(entry.metadata.environmentId)] ?? environments?.[resourceId ?? '']
      if (flags.json) writeLine(JSON.stringify({ ...entry, ...(environment && { environment }) }))
      else
        rows.push([
          ...[shownMoment(createdAt), action, nameOf(actorId, actorId ?? actorType)],
          ...[nameOf(resourceId, resourceType), placeOf(entry, environments), resourceId ?? ''],
        ])
    }
    left -= entries.length
    hasMore = nextCursor !== null
    if (left <= 0) break
  }
  if (!flags.json)
    writeTable(
      ['when', 'action', 'by', 'on', 'in', 'id'],
      rows,
      'no entry matches; remove a filter, or run `skerry audit ls` to see the newest entries',
    )
  if (hasMore) note(`these are the newest ${count(limit, 'entry', 'entries')}; --limit 0 shows all`)
}

function parseAudit(flags: Options) {
  const limit = parseLimit(flags.limit, 0)
  checkFilters(flags)
  return { limit }
}

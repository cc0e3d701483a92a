import { auditGroups } from '@skerry/contract/action'
import type { audit } from '@skerry/contract/audit/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { SignedIn } from '../frame.ts'
import { note, type Output, writeTable } from '../output.ts'
import { type FilterFlags, filtersOf } from './filters.ts'

type Span = Answer<typeof audit.timeline>['spans'][number]

const barWidth = 30

export async function timeline({ session, flags }: SignedIn<FilterFlags>): Promise<Output> {
  const query = await filtersOf(session, flags)
  const { id: orgId } = await session.org()
  const answer = await session.client.audit.timeline({ params: { orgId }, query })
  return {
    json: answer,
    text: () => {
      const totals = answer.spans.map(({ counts }) => Object.values(counts).reduce((sum, count) => sum + count, 0))
      const most = Math.max(...totals, 1)
      // The headers do not come from the server, so they are printed as they are.
      const [title, length] =
        answer.step === 'hour' ? ['hour', 'YYYY-MM-DDTHH:MM'.length] : ['day', 'YYYY-MM-DD'.length]
      writeTable(
        [title, 'entries', '', 'of'],
        answer.spans.map((span, at) => {
          const total = totals[at] ?? 0
          return [span.since.slice(0, length).replace('T', ' '), String(total), bar(total / most), groupsOf(span)]
        }),
      )
      if (answer.countedUntil)
        note(`counted back to ${answer.countedUntil}; for older entries use --until ${answer.countedUntil}`)
      note(`${totals.reduce((sum, total) => sum + total, 0)} entries; times are in UTC`)
    },
  }
}

/** Every share above zero gets at least one `#`. */
const bar = (share: number) => '#'.repeat(Math.max(0, Math.ceil(share * barWidth)))

const groupsOf = ({ counts }: Span): string =>
  auditGroups
    .filter((group) => counts[group] > 0)
    .map((group) => `${group} ${counts[group]}`)
    .join(', ')

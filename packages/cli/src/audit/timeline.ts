import { auditGroups } from '@skerry/contract/action'
import type { audit } from '@skerry/contract/audit/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import { usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { note, type Output, writeTable } from '../output.ts'
import { notedTime } from '../times.ts'
import { count } from '../units.ts'
import { checkFilters, type FilterFlags, filtersOf, instantOf } from './filters.ts'

type Span = Answer<typeof audit.timeline>['spans'][number]

const barWidth = 30

export async function timeline({ session, flags }: SignedIn<FilterFlags>): Promise<Output> {
  const query = await filtersOf(session, flags)
  const { id: orgId } = await session.org()
  const answer = await session.client.audit.timeline({ params: { orgId }, query })
  return {
    json: answer,
    text: () => {
      const spans = answer.spans.map((span) => ({ ...span, total: totalOf(span) }))
      const most = Math.max(...spans.map(({ total }) => total), 1)
      // The headers do not come from the server, so they are printed as they are.
      const [title, length] =
        answer.step === 'hour' ? ['hour', 'YYYY-MM-DDTHH:MM'.length] : ['day', 'YYYY-MM-DD'.length]
      const nameOf = ({ since }: Span) => since.slice(0, length).replace('T', ' ')
      writeTable(
        [title, 'entries', '', 'of'],
        spans
          .filter(({ total }) => total > 0)
          .map((span) => [nameOf(span), String(span.total), bar(span.total / most), groupsOf(span)]),
      )
      if (answer.countedUntil)
        note(`counted back to ${notedTime(answer.countedUntil)}; for older entries use --until ${answer.countedUntil}`)
      const total = spans.reduce((sum, one) => sum + one.total, 0)
      const range = spans.length === 0 ? '' : ` from ${nameOf(spans[0]!)} to ${nameOf(spans.at(-1)!)}`
      note(`${count(total, 'entry', 'entries')}${range}, in UTC; ${answer.step}s without entries are left out`)
    },
  }
}

const totalOf = ({ counts }: Span) => Object.values(counts).reduce((sum, one) => sum + one, 0)

const dayMs = 86_400_000

/** Refuses invalid filters, and more days than the server counts at once. */
export function checkTimeline(flags: FilterFlags): void {
  checkFilters(flags)
  if (flags.since === undefined) return
  const until = flags.until === undefined ? Date.now() : Date.parse(instantOf(flags.until, '--until'))
  const days = (until - Date.parse(instantOf(flags.since, '--since'))) / dayMs
  if (days <= limits.timelineDaysMax) return
  const end = flags.until === undefined ? 'ago' : 'before --until'
  throw usage(`--since must be at most ${limits.timelineDaysMax} days ${end} (you gave ${flags.since})`)
}

/** Every share above zero gets at least one `#`. */
const bar = (share: number) => '#'.repeat(Math.max(0, Math.ceil(share * barWidth)))

const groupsOf = ({ counts }: Span): string =>
  auditGroups
    .filter((group) => counts[group] > 0)
    .map((group) => `${group} ${counts[group]}`)
    .join(', ')

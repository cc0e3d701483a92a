import {
  type Offboarding,
  type OffboardingRow,
  offboardingCsv,
  offboardingMarkdown,
  offboardingRowWords,
  offboardingStateWords,
  offboardingSubject,
  rekeyability,
} from '@skerry/sdk/internal/offboarding'
import { openDirectory } from '../directory.ts'
import { Failure, usage } from '../failure.ts'
import { checkWritable, writeNamed } from '../files.ts'
import type { InOrg } from '../frame.ts'
import { note, type Output, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { count } from '../units.ts'
import { findOffboarding, labelOf, listRows } from './find.ts'
import { changeRows, changesRows, checkRowOptions, findRows, type RowOptions } from './rows.ts'

interface ShowOptions extends Flags, Confirmable, RowOptions {
  report?: string
  force?: boolean
  finish?: boolean
}

export function checkShow(flags: ShowOptions, who: string | undefined, names: string[]): void {
  const { report, force, finish } = flags
  checkRowOptions(flags, names)
  if (names.length > 0 && (report !== undefined || finish))
    throw usage(`${finish ? '--finish' : '--report'} is for the whole offboarding`, 'name no row')
  if (who === undefined && (report !== undefined || finish))
    throw usage('the member is missing', 'name a member by e-mail address')
  if (report === undefined) return
  if (!/\.(?:md|csv)$/.test(report)) throw usage(`--report must end in .md or .csv (you gave ${report})`)
  checkWritable(report, { force })
}

export async function show(
  who: string | undefined,
  names: string[],
  { session, flags, orgId }: InOrg<ShowOptions>,
): Promise<Output> {
  if (who === undefined) return list(session, orgId)
  const found = await findOffboarding(session, orgId, who)
  if (!found) throw new Failure('notFound', `${who} has no offboarding`, 'see `skerry members offboarding`')
  if (changesRows(flags))
    await changeRows(session, orgId, found, findRows(await listRows(session, orgId, found), names), flags)
  const offboarding = flags.finish ? await finish(session, orgId, found, flags) : found
  const all = await listRows(session, orgId, offboarding)
  const rows = names.length === 0 ? all : findRows(all, names)
  if (flags.report !== undefined) await writeReport(session, { offboarding, rows }, flags.report, flags.force)
  return {
    json: { offboarding, rows },
    text: async () => {
      const nameOf = await namesOf(session, offboarding, rows)
      writeTable(
        ['step', 'what', 'state', 'by', 'at', 'handed to', 'note'],
        rows.map((row) => [
          offboardingRowWords[row.kind],
          row.kind === 'recovery_share' ? 'recovery' : offboardingSubject(row),
          stateOf(row),
          nameOf(row.changedById),
          row.changedAt === null ? '' : shownTime(row.changedAt),
          nameOf(row.assigneeId),
          row.note ?? '',
        ]),
      )
    },
  }
}

function stateOf(row: OffboardingRow): string {
  return `${offboardingStateWords[row.state]}${reasons[rekeyability(row)]}`
}

const reasons = {
  ready: '',
  to_propose: ' (protected: needs approval)',
  proposed: ' (waits for approval)',
  no_key: ' (you do not have the key)',
  closed: '',
}

async function list(session: Session, orgId: string): Promise<Output> {
  const { offboardings } = await session.client.offboardings.list({ params: { orgId } })
  return {
    json: { offboardings },
    text: () =>
      writeTable(
        ['person', 'done', 'started', 'finished', 'id'],
        offboardings.map((one) => [
          labelOf(one),
          `${one.rows - one.open} of ${one.rows}`,
          shownTime(one.startedAt),
          one.finishedAt === null ? '' : shownTime(one.finishedAt),
          one.userId,
        ]),
      ),
  }
}

async function finish(session: Session, orgId: string, found: Offboarding, flags: Confirmable): Promise<Offboarding> {
  const { open } = found
  if (open > 0)
    await confirmOrRefuse(`finishes the offboarding of ${labelOf(found)} and leaves ${count(open, 'row')} open`, flags)
  const { offboarding } = await session.client.offboardings.finish({
    params: { orgId, offboardingId: found.id },
    body: open > 0 ? { acceptOpen: true } : {},
  })
  note(`finished the offboarding of ${labelOf(offboarding)}`)
  return offboarding
}

async function writeReport(
  session: Session,
  shown: { offboarding: Offboarding; rows: OffboardingRow[] },
  path: string,
  force: boolean | undefined,
): Promise<void> {
  const report = { ...shown, nameOf: await namesOf(session, shown.offboarding, shown.rows) }
  writeNamed(path, path.endsWith('.csv') ? offboardingCsv(report) : offboardingMarkdown(report), { force })
  note(`wrote ${path}`)
}

async function namesOf(session: Session, { startedById, finishedById }: Offboarding, rows: OffboardingRow[]) {
  const ids = rows.flatMap(({ changedById, assigneeId }) => [changedById, assigneeId])
  const nameOf = await openDirectory(session, [startedById, finishedById, ...ids])
  return (id: string | null): string => nameOf(id) ?? id ?? ''
}

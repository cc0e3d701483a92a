import type { Answer } from '@skerry/contract/endpoint'
import type { offboardings } from '@skerry/contract/offboardings/endpoints'
import { distinctNames } from './distinct-names.ts'

// Steps of an offboarding that the command line and the dashboard share.

export type Offboarding = Answer<typeof offboardings.get>['offboarding']
export type OffboardingRow = Answer<typeof offboardings.rows>['rows'][number]

/**
 * Tells why a caller can or cannot re-key the environment of a row now.
 *
 * - `ready`: the caller holds the key.
 * - `to_propose`: the caller holds the key, and the environment is protected, so the re-key waits for approval.
 * - `proposed`: a re-key waits for approval. The row is done with it, and is open again if it is not applied.
 * - `no_key`: somebody else holds the key.
 * - `closed`: nothing is left to do, or the row is of another kind.
 */
export function rekeyability(row: OffboardingRow): 'ready' | 'to_propose' | 'proposed' | 'no_key' | 'closed' {
  if (row.kind !== 'rekey' || row.state !== 'waiting') return 'closed'
  if (row.changeRequestId != null) return 'proposed'
  if (!row.held) return 'no_key'
  return row.protected ? 'to_propose' : 'ready'
}

export const offboardingRowWords: Readonly<Record<OffboardingRow['kind'], string>> = {
  recovery_share: 'Replace the recovery share',
  rekey: 'Re-key',
  rotate_value: 'Replace the value',
}

export const offboardingStateWords: Readonly<Record<OffboardingRow['state'], string>> = {
  waiting: 'open',
  done: 'done',
  rotated: 'rotated',
  replaced: 'replaced',
  not_needed: 'not needed',
  deleted: 'deleted',
}

/** Sentences about what an offboarding cannot undo. */
export const offboardingLimits: readonly string[] = [
  'Copies that the person made stay: files, screenshots and shells.',
  'A new key protects new values. The values that the person read work until they are replaced at their source.',
  'Synced values stay at their destinations until they are replaced.',
]

interface Report {
  offboarding: Offboarding
  rows: readonly OffboardingRow[]
  /** The name of a person or a credential, by its id. */
  nameOf: (id: string | null) => string
}

/** Names what a row is about: `shop/production`, or `shop/production DB_PASSWORD`. */
export const offboardingSubject = ({ label, secretName }: Pick<OffboardingRow, 'label' | 'secretName'>): string =>
  [label, secretName].filter((part) => part !== null).join(' ')

const cellsOf = (row: OffboardingRow, nameOf: Report['nameOf']): string[] => [
  offboardingRowWords[row.kind],
  offboardingSubject(row),
  offboardingStateWords[row.state],
  nameOf(row.changedById),
  row.changedAt ?? '',
  nameOf(row.assigneeId),
  row.note ?? '',
]

const header = ['Step', 'What', 'State', 'By', 'At', 'Handed to', 'Note']

/**
 * Writes an offboarding as a Markdown document: the person, the revoked credentials, every row, and what it cannot undo.
 *
 * @example
 * const params = { orgId, offboardingId }
 * const { offboarding } = await client.offboardings.get({ params })
 * const { rows } = await client.offboardings.rows({ params })
 * const text = offboardingMarkdown({ offboarding, rows, nameOf: (id) => id ?? '' })
 */
export function offboardingMarkdown({ offboarding, rows, nameOf }: Report): string {
  const { email, name, userId, startedById, startedAt, finishedById, finishedAt, revoked } = offboarding
  const person = name ?? email ?? userId
  const end = finishedAt === null ? [] : [`Finished by ${nameOf(finishedById)} at ${finishedAt}.`]
  const lines = [
    `# Offboarding of ${inLine(person)}`,
    '',
    ...(email === null || email === person ? [] : [`E-mail: ${inLine(email)}`, '']),
    inLine(`Started by ${nameOf(startedById)} at ${startedAt}.`),
    ...end.map(inLine),
    `Done: ${offboarding.rows - offboarding.open} of ${offboarding.rows} rows.`,
    '',
    '## Revoked',
    '',
    ...(revoked.length === 0 ? ['Nothing.'] : distinctNames(revoked.map(calledOf)).map((text) => `- ${inLine(text)}`)),
    '',
    '## Rows',
    '',
    tableLine(header),
    tableLine(header.map(() => '---')),
    ...rows.map((row) => tableLine(cellsOf(row, nameOf).map(inLine))),
    '',
    '## This cannot be undone',
    '',
    ...offboardingLimits.map((text) => `- ${text}`),
  ]
  return `${lines.join('\n')}\n`
}

const calledOf = ({ kind, id, name }: Offboarding['revoked'][number]) => ({ id, name: `${kindWords[kind]} ${name}` })

const kindWords: Readonly<Record<Offboarding['revoked'][number]['kind'], string>> = {
  service_token: 'Service token',
  machine_client: 'Machine client',
  agent: 'Agent (disabled)',
  platform_key: 'Platform key',
  lease: 'Lease',
  invitation: 'Invitation',
}

const tableLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** Keeps a text that somebody else chose on its line, and shows it as it is. */
const inLine = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, '\\$&')

/**
 * Writes the rows of an offboarding as CSV of RFC 4180, with a header. A text that a spreadsheet would run as a formula
 * begins with an apostrophe.
 *
 * @example
 * const params = { orgId, offboardingId }
 * const { offboarding } = await client.offboardings.get({ params })
 * const { rows } = await client.offboardings.rows({ params })
 * const text = offboardingCsv({ offboarding, rows, nameOf: (id) => id ?? '' })
 */
export const offboardingCsv = ({ rows, nameOf }: Report): string =>
  [header, ...rows.map((row) => cellsOf(row, nameOf))].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')

const csvCell = (text: string): string => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`

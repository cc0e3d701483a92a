import type { Entry } from './queries.ts'

const columns = [
  'createdAt',
  'action',
  'actorType',
  'actorId',
  'resourceType',
  'resourceId',
  'ipAddress',
  'userAgent',
  'requestId',
  'id',
] as const satisfies (keyof Entry)[]

/** Returns the entries as CSV (RFC 4180). The last column is the metadata as JSON. */
export function csvOf(entries: Entry[]): string {
  const header = [...columns, 'metadata'].join(',')
  const rows = entries.map((entry) =>
    [...columns.map((column) => cell(entry[column] ?? '')), cell(JSON.stringify(entry.metadata))].join(','),
  )
  return `${[header, ...rows].join('\r\n')}\r\n`
}

/**
 * Quotes a cell. A spreadsheet would run a text that begins like a formula, so such a text gets a `'` in front.
 * Strangers can choose such a text as their user agent.
 */
function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

export const jsonOf = (entries: Entry[]): string => `${JSON.stringify({ entries }, null, 2)}\n`

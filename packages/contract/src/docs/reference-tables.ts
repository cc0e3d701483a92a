import { auditActions } from '../actions.ts'
import { type ErrorCode, errorStatus } from '../errors.ts'
import { limits } from '../limits.ts'
import { blobKinds, credentialPrefixes, idLength, idPrefixes } from '../prefixes.ts'
import { errorMeanings } from '../refusals.ts'

/** A table of the reference. Text in backquotes is code. */
export interface Table {
  /** The name of the section, and the target of links to it. */
  anchor: string
  title: string
  about: string
  columns: string[]
  rows: string[][]
}

const code = (text: string | number) => `\`${text}\``

const spaced = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/**
 * Builds the tables that apply to all operations: errors, limits, ids, credentials, blobs, audit actions.
 *
 * @example referenceTables()[0]?.rows[0] // ['`invalid_request`', '400', '...']
 */
export function referenceTables(): Table[] {
  return [
    {
      anchor: 'errors',
      title: 'Errors',
      about:
        'An error is `{ "error": { "code", "message" } }`. The code is for programs, and the message is for people.',
      columns: ['Code', 'Status', 'Meaning'],
      rows: (Object.keys(errorStatus) as ErrorCode[]).map((name) => [
        code(name),
        String(errorStatus[name]),
        errorMeanings[name],
      ]),
    },
    {
      anchor: 'limits',
      title: 'Limits',
      about:
        'If a request is above a limit, the server refuses it with `invalid_request`. The table also has lifetimes and defaults.',
      columns: ['Limit', 'Value'],
      rows: Object.entries(limits).map(([name, value]) => [code(name), amount(name, value)]),
    },
    {
      anchor: 'ids',
      title: 'Ids',
      about: `An id is a prefix, followed by ${idLength} characters of A-Z, a-z and 0-9.`,
      columns: ['Prefix', 'Object'],
      rows: Object.entries(idPrefixes).map(([kind, prefix]) => [code(prefix), spaced(kind)]),
    },
    {
      anchor: 'credentials',
      title: 'Credentials',
      about:
        'A credential that a caller sends as `Bearer` begins with one of these prefixes. The session of a person is a JWT, which has no such prefix.',
      columns: ['Prefix', 'Credential'],
      rows: Object.entries(credentialPrefixes).map(([kind, prefix]) => [code(prefix), spaced(kind)]),
    },
    {
      anchor: 'blobs',
      title: 'Blobs',
      about:
        'A blob is a text that a client has encrypted or signed. The server checks its prefix and the number of its ' +
        'segments. It can decrypt a blob only if a client encrypted the blob or its key for the server. The segments ' +
        'are in base64url, with dots between them.',
      columns: ['Prefix', 'Number of segments', 'Content'],
      rows: Object.entries(blobKinds).map(([prefix, kind]) => [code(`${prefix}.`), String(kind.segments), kind.what]),
    },
    {
      anchor: 'audit-actions',
      title: 'Audit actions',
      about: 'The audit log records these actions. The second column has the type of the entry’s resource.',
      columns: ['Action', 'Type of the resource'],
      rows: Object.entries(auditActions).map(([action, { about }]) => [code(action), code(about)]),
    },
  ]
}

const units: [suffix: RegExp, steps: [size: number, unit: string][]][] = [
  [
    /Bytes$/,
    [
      [1024 * 1024, 'MiB'],
      [1024, 'KiB'],
    ],
  ],
  [
    /Seconds$/,
    [
      [86_400, 'days'],
      [3600, 'hours'],
      [60, 'minutes'],
    ],
  ],
]

/** Writes a number in the largest unit that divides it. The name of a limit ends with the unit of its value. */
function amount(name: string, value: number): string {
  const plain = value.toLocaleString('en-US')
  const [, steps] = units.find(([suffix]) => suffix.test(name)) ?? []
  const step = steps?.find(([size]) => value % size === 0)
  if (!step) return plain
  const [size, unit] = step
  const count = value / size
  return `${plain} (${count} ${count === 1 ? unit.replace(/s$/, '') : unit})`
}

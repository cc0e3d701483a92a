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

/** The words for kinds of ids and credentials whose name in the code does not say enough. */
const kindWords: Readonly<Record<string, string>> = {
  audit: 'entry of the audit log',
  cliSession: 'CLI session',
  changeGroup: 'group of change requests that were proposed together',
  kmsKey: 'managed key',
  machineAccess: 'access token of a machine client',
  override: 'personal override',
  passkey: 'passkey that unlocks the keyring',
  review: 'review of a change request',
  session: 'browser session',
  signInPasskey: 'passkey for signing in',
  taskRef: 'reference of an agent task',
  vaultClaim: 'claim token of a Connect link or manage link',
  vaultExecutor: 'vault executor',
  vaultKey: 'platform key of a vault project',
  vaultPlatform: 'platform key of a vault project',
  vaultSession: 'session of a Connect link or manage link',
}

const kindOf = (kind: string) => kindWords[kind] ?? spaced(kind)

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
        'If a field of a request is above its limit, the server refuses the request with `invalid_request`. If too many secrets, details of secrets or overrides are stored already, or a limit of the plan is reached, the code is `quota_exceeded`. If too many other objects are stored, the code is `conflict`. The table also has lifetimes and default values.',
      columns: ['Limit', 'Value'],
      rows: Object.entries(limits).map(([name, value]) => [code(name), amount(name, value)]),
    },
    {
      anchor: 'ids',
      title: 'Ids',
      about: `An id is a prefix, followed by ${idLength} characters of A-Z, a-z and 0-9.`,
      columns: ['Prefix', 'Object'],
      rows: Object.entries(idPrefixes).map(([kind, prefix]) => [code(prefix), kindOf(kind)]),
    },
    {
      anchor: 'credentials',
      title: 'Credentials',
      about:
        'Most credentials that a caller sends as `Bearer` begin with one of these prefixes. Only the session token of a person, a JWT, has no prefix.',
      columns: ['Prefix', 'Credential'],
      rows: Object.entries(credentialPrefixes).map(([kind, prefix]) => [code(prefix), kindOf(kind)]),
    },
    {
      anchor: 'blobs',
      title: 'Blobs',
      about:
        'A blob is a text that a client has encrypted or signed. The server checks its prefix and the number of its ' +
        'segments. The server cannot decrypt a blob, except if a client encrypted the blob, or the key of the blob, for the server. The segments ' +
        'are in base64url, with dots between them.',
      columns: ['Prefix', 'Number of segments', 'Content'],
      rows: Object.entries(blobKinds).map(([prefix, kind]) => [code(`${prefix}.`), String(kind.segments), kind.what]),
    },
    {
      anchor: 'audit-actions',
      title: 'Audit actions',
      about:
        'Each entry of the audit log has one of these actions. The second column names the type of the object that the action changes or uses.',
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

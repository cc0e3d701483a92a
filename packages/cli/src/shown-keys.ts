import { join } from 'node:path'
import { withLock } from './credentials.ts'
import { Failure } from './failure.ts'
import { readIfThere, writePrivate } from './files.ts'
import { configFolder } from './folders.js'
import { canonical, type PinnedGrantee } from './pins.ts'
import type { Session } from './session.ts'

// A script compares the words that a refused command shows, and runs the command again with `--reader`. A malicious server
// could show the right key first and its own key then. This module therefore remembers the key whose words were shown.

/** The public keys that were shown last, by server and organization, then by principal. */
type ShownKeys = Record<string, Record<string, string>>

const path = () => join(configFolder(), 'shown-keys.json')
const placeOf = (session: Session, orgId: string) => `${session.settings.url} ${orgId}`

function read(): ShownKeys {
  const text = readIfThere(path())
  if (text === null) return {}
  try {
    return JSON.parse(text) as ShownKeys
  } catch {
    throw new Failure('failure', `${path()} is not a list of keys`, 'delete the file, and compare the words again')
  }
}

/** Call it when a command is refused until a person has compared the words of these keys. */
export function noteShown(session: Session, orgId: string, readers: readonly PinnedGrantee[]): void {
  const place = placeOf(session, orgId)
  const shown = readers.map(({ principalId, publicKeyJwk }) => [principalId, canonical(publicKeyJwk)])
  withLock(`${path()}.lock`, () => {
    const all = read()
    const next = { ...all, [place]: { ...all[place], ...Object.fromEntries(shown) } }
    writePrivate(path(), `${JSON.stringify(next, null, 2)}\n`)
  })
}

/** Refuses a reader that `--reader` names if the server shows another key than the one whose words were shown. */
export function requireAsShown(session: Session, orgId: string, readers: readonly PinnedGrantee[]): void {
  const shown = read()[placeOf(session, orgId)] ?? {}
  const isOther = ({ principalId, publicKeyJwk }: PinnedGrantee) =>
    (shown[principalId] ?? canonical(publicKeyJwk)) !== canonical(publicKeyJwk)
  const other = readers.find(isOther)
  if (!other) return
  throw new Failure(
    'refused',
    `the server shows another key of ${other.name ?? other.principalId} than the one whose words this machine showed before; nothing was changed`,
    'run the command without --reader, and compare the words of this key',
  )
}

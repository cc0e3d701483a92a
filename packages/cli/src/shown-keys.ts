import { Failure } from './failure.ts'
import { orgMemory } from './org-memory.ts'
import { canonical, type PinnedGrantee } from './pins.ts'
import type { Session } from './session.ts'

// A script compares the words that a refused command shows, and runs the command again with `--reader`. A malicious server
// could show the right key first and its own key then. This module therefore remembers the key whose words were shown.

/** The public keys of an organization that were shown last, by principal. */
const memory = orgMemory<Record<string, string>>({
  file: 'shown-keys.json',
  field: 'shown',
  holds: 'keys',
  next: 'delete the file, and compare the words again',
})

/** Call it when a command is refused until a person has compared the words of these keys. */
export function noteShown({ settings }: Session, orgId: string, readers: readonly PinnedGrantee[]): void {
  const now = readers.map(({ principalId, publicKeyJwk }) => [principalId, canonical(publicKeyJwk)])
  memory.change(settings.url, orgId, (shown = {}) => ({ ...shown, ...Object.fromEntries(now) }))
}

/** Refuses a reader that `--reader` names if the server shows another key than the one whose words were shown. */
export function requireAsShown(session: Session, orgId: string, readers: readonly PinnedGrantee[]): void {
  const shown = memory.find(session.settings.url, orgId) ?? {}
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

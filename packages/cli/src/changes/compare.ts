import { type Dek, openSecret } from '@skerry/crypto/secret'
import { versionOpener } from '@skerry/sdk/secret-history'
import type { ChangeRequest } from '@skerry/sdk/secrets'
import { toFailure } from '../failure.ts'
import { maskedValue, printable } from '../output.ts'
import type { Place } from '../places.ts'
import { openKey } from '../secrets/values.ts'
import type { Session } from '../session.ts'

/** The effect of a change on the decrypted value. */
export interface Comparison {
  /** `unreadable`: the proposed ciphertext does not open here. `forgotten`: it was deleted with the secret. */
  state: 'new' | 'changed' | 'same' | 'deleted' | 'unreadable' | 'forgotten'
  currentVersion: number | null
  current: string | undefined
  proposed: string | undefined
  restored: Restored
}

/**
 * The value of a restore, compared with the version that it names. The proposer encrypted it anew if the secret was renamed
 * since that version, and may have encrypted another value. `unproven`: the version does not open here, so nobody can compare.
 * Null for every other change: the server then replays the version itself.
 */
type Restored = 'same' | 'different' | 'unproven' | null

/** Decrypts the current and the proposed value on this machine. It fails without a key grant on the environment. */
export async function compare(session: Session, place: Place, change: ChangeRequest): Promise<Comparison> {
  const { dek } = await openKey(session, place)
  const open = (ciphertext: string) => openSecret(ciphertext, dek, place.envId, change.secretName)
  const history = await historyOf(session, place, change)
  const { currentVersion, ciphertexts } = history
  const stored = currentVersion === null ? undefined : ciphertexts.get(currentVersion)
  const current = stored === undefined ? undefined : await open(stored)
  const known = { currentVersion, current, restored: null }
  if (change.action === 'delete') return { ...known, state: 'deleted', proposed: undefined }
  const replayed = ciphertexts.get(change.restoreVersion ?? 0)
  // A restore has a ciphertext of its own if the secret was deleted, or renamed since that version.
  const isReplay = change.action === 'restore' && change.deletedSecretId == null
  const sealed = change.ciphertext ?? (isReplay ? replayed : null)
  if (sealed == null) return { ...known, state: 'forgotten', proposed: undefined }
  try {
    const proposed = await open(sealed)
    const state = current === undefined ? 'new' : current === proposed ? 'same' : 'changed'
    return { ...known, state, proposed, restored: await restoredIn(history, place, change, dek, proposed) }
  } catch {
    return { ...known, state: 'unreadable', proposed: undefined }
  }
}

/** Compares the value of a restore with the version that it names. */
export async function compareRestored(
  session: Session,
  place: Place,
  change: ChangeRequest,
  dek: Dek,
  proposed: string,
): Promise<Restored> {
  return isResealed(change) ? restoredIn(await historyOf(session, place, change), place, change, dek, proposed) : null
}

/** Whether the proposer encrypted the value of an earlier version anew, because the secret was renamed since. */
const isResealed = ({ action, ciphertext, deletedSecretId }: ChangeRequest) =>
  action === 'restore' && ciphertext !== null && deletedSecretId == null

async function restoredIn(
  { ciphertexts, formerNames }: Awaited<ReturnType<typeof historyOf>>,
  { envId }: Place,
  change: ChangeRequest,
  dek: Dek,
  proposed: string,
): Promise<Restored> {
  if (!isResealed(change)) return null
  const version = change.restoreVersion ?? 0
  const ciphertext = ciphertexts.get(version)
  if (ciphertext === undefined) return 'unproven'
  const open = await versionOpener({ formerNames }, { envId, name: change.secretName }, dek)
  const original = await open({ version, ciphertext }).catch(() => undefined)
  if (original === undefined) return 'unproven'
  return original === proposed ? 'same' : 'different'
}

/** Reads the current version. For a restore it reads back to the version that the change names. */
async function historyOf(session: Session, { orgId, envId }: Place, { secretName, restoreVersion }: ChangeRequest) {
  const params = { orgId, envId, name: secretName }
  const ciphertexts = new Map<number, string>()
  let currentVersion: number | null = null
  let formerNames: string | null = null
  let cursor: string | null = null
  try {
    do {
      const query: { limit: number; cursor?: string } = {
        limit: restoreVersion === null ? 1 : 200,
        ...(cursor === null ? {} : { cursor }),
      }
      const page = await session.client.secrets.versions({ params, query })
      for (const { version, ciphertext } of page.versions) ciphertexts.set(version, ciphertext)
      currentVersion = page.currentVersion
      formerNames = page.formerNames ?? null
      cursor = page.nextCursor
    } while (restoreVersion !== null && !ciphertexts.has(restoreVersion) && cursor !== null)
  } catch (error) {
    // The secret does not exist: either the change would create it, or somebody deleted it after the proposal.
    if (toFailure(error).kind !== 'notFound') throw error
  }
  return { currentVersion, ciphertexts, formerNames }
}

/** Returns lines that begin with `-`, `+` or blanks. A masked value is one line, which hides its length. */
export function diffLines({ state, current, proposed }: Comparison, reveal: boolean): string[] {
  const lines = (value: string | undefined) => {
    if (value === undefined) return []
    return reveal ? value.split('\n').map(printable) : [maskedValue]
  }
  const [before, after] = [lines(current), lines(proposed)]
  if (!reveal && state === 'changed') return [`- ${maskedValue}`, `+ ${maskedValue}`]
  const least = Math.min(before.length, after.length)
  let head = 0
  while (head < least && before[head] === after[head]) head++
  let tail = 0
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return [
    ...before.slice(0, head).map((line) => `  ${line}`),
    ...before.slice(head, before.length - tail).map((line) => `- ${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+ ${line}`),
    ...before.slice(before.length - tail).map((line) => `  ${line}`),
  ]
}

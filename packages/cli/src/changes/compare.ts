import { type Dek, openSecret } from '@skerry/crypto/secret'
import { openProven } from '@skerry/sdk/secret-history'
import { openDeleted, type SecretChange } from '@skerry/sdk/secrets'
import { toFailure } from '../failure.ts'
import { maskedValue, printable } from '../output.ts'
import { eachPage } from '../pages.ts'
import type { Place } from '../places.ts'
import { listDeletedIfAllowed } from '../secrets/deleted.ts'
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
 * The value of a restore, compared with the version or the deleted secret that it names. The proposer encrypted it anew if the
 * secret was deleted, or renamed since that version, and may have encrypted another value. `unproven`: the original is not
 * found or does not open here, or nothing proves that it is the version, so nobody can compare. Null for every other change:
 * the server then replays the version itself.
 */
type Restored = 'same' | 'different' | 'unproven' | null

/** Decrypts the current and the proposed value on this machine. It fails without a key grant on the environment. */
export async function compare(session: Session, place: Place, change: SecretChange): Promise<Comparison> {
  const { dek } = await openKey(session, place, 'read')
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
  const proposed = await open(sealed).catch(() => undefined)
  if (proposed === undefined) return { ...known, state: 'unreadable', proposed }
  const state = current === undefined ? 'new' : current === proposed ? 'same' : 'changed'
  return { ...known, state, proposed, restored: await restoredIn(session, history, place, change, dek, proposed) }
}

/** Compares the value of a restore with the version or the deleted secret that it names. */
export async function compareRestored(
  session: Session,
  place: Place,
  change: SecretChange,
  dek: Dek,
  proposed: string,
): Promise<Restored> {
  if (!isResealed(change)) return null
  return restoredIn(session, await historyOf(session, place, change), place, change, dek, proposed)
}

/** Returns true if the proposer encrypted the value anew, because the secret was deleted, or renamed since that version. */
const isResealed = ({ action, ciphertext }: SecretChange) => action === 'restore' && ciphertext !== null

/** The deleted secret or the version that a restore names. */
export const originalOf = ({ secretName, restoreVersion, deletedSecretId }: SecretChange): string =>
  deletedSecretId == null ? `version ${restoreVersion} of ${secretName}` : `the deleted secret ${secretName}`

/** Says that a restore cannot be compared, and the next step. */
export const unprovenWarning = (original: string, id: string): string =>
  `nobody can compare the proposed value with ${original}: nothing proves that value, or it does not open. Read it with \`skerry changes show ${id} --reveal\` before you approve.`

async function restoredIn(
  session: Session,
  { ciphertexts, formerNames }: Awaited<ReturnType<typeof historyOf>>,
  place: Place,
  change: SecretChange,
  dek: Dek,
  proposed: string,
): Promise<Restored> {
  if (!isResealed(change)) return null
  // An applied restore has no deleted secret to compare with.
  if (change.deletedSecretId != null && change.status !== 'open') return null
  const openVersion = async () => {
    const version = change.restoreVersion ?? 0
    const ciphertext = ciphertexts.get(version)
    if (ciphertext === undefined) return undefined
    const named = { envId: place.envId, name: change.secretName }
    return openProven({ formerNames }, named, { version, ciphertext }, dek).catch(() => undefined)
  }
  const original = await (change.deletedSecretId == null ? openVersion() : openOriginal(session, place, change, dek))
  if (original === undefined) return 'unproven'
  return original === proposed ? 'same' : 'different'
}

/** Decrypts the deleted secret that a restore names. Undefined if it is not found or does not open. */
async function openOriginal(session: Session, place: Place, { secretName, deletedSecretId }: SecretChange, dek: Dek) {
  const deleted = (await listDeletedIfAllowed(session, place)).find(({ id }) => id === deletedSecretId)
  const { ciphertext = null } = deleted ?? {}
  return openDeleted(place.envId, { name: secretName, ciphertext }, dek).catch(() => undefined)
}

/** Reads the current version. For a restore it reads back to the version that the change names. */
async function historyOf(session: Session, { orgId, envId }: Place, { secretName, restoreVersion }: SecretChange) {
  const params = { orgId, envId, name: secretName }
  const ciphertexts = new Map<number, string>()
  let currentVersion: number | null = null
  let formerNames: string | null = null
  const limit = restoreVersion === null ? 1 : 200
  try {
    for await (const page of eachPage((at) => session.client.secrets.versions({ params, query: { limit, ...at } }))) {
      for (const { version, ciphertext } of page.versions) ciphertexts.set(version, ciphertext)
      currentVersion = page.currentVersion
      formerNames = page.formerNames ?? null
      if (restoreVersion === null || ciphertexts.has(restoreVersion)) break
    }
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

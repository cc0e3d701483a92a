import { queryOptions, useQuery } from '@tanstack/react-query'
import { keyring } from '../keyring.ts'

// Remembers, in this browser, the public keys that this person has compared with their holders or wrapped keys to. It
// stores fingerprints of public keys, which are no secret.

const storageName = 'skerry-known-keys'

export interface Pin {
  fingerprint: string
  compared: boolean
  /** The holder's name and e-mail address at the comparison, if the page knew them. */
  name?: string
  email?: string
  /** Whether the signed directory has listed this key. If it lists the key no longer, a signer has ended it. */
  wasListed?: true
}

type Pins = Record<string, Pin>

export function readPins(): Pins {
  try {
    const pins: unknown = JSON.parse(localStorage.getItem(storageName) ?? '{}')
    return typeof pins === 'object' && pins !== null ? (pins as Pins) : {}
  } catch {
    return {}
  }
}

export const writePins = (pins: Pins) => localStorage.setItem(storageName, JSON.stringify(pins))

/** Remembers that a person has compared this key with its holder, who was shown with this name and address. */
export function pin(principalId: string, fingerprint: string, shown: Pick<Pin, 'name' | 'email'> = {}): void {
  const pins = readPins()
  const before = pins[principalId]
  const same = before?.compared && before.fingerprint === fingerprint ? before : {}
  writePins({ ...pins, [principalId]: { ...same, ...shown, fingerprint, compared: true } })
}

/** The e-mail address of a member, or the name of a token, that `pin` takes. */
export const shownNames = ({
  email,
  tokenName,
}: {
  email?: string | null
  tokenName?: string
}): Pick<Pin, 'name' | 'email'> => ({
  ...(email ? { email } : {}),
  ...(tokenName ? { name: tokenName } : {}),
})

/**
 * Returns the fingerprint of a key that was compared, and the name under which its holder was shown then. The server could
 * show the holder under another name now.
 */
export function comparedPin(principalId: string): Pin | undefined {
  const pinned = readPins()[principalId]
  return pinned?.compared ? pinned : undefined
}

/** Remembers keys that were used without a comparison, so that a later change is noticed. */
export function remember(holders: { principalId: string; fingerprint: string }[]): void {
  const pins = readPins()
  for (const { principalId, fingerprint } of holders) pins[principalId] ??= { fingerprint, compared: false }
  writePins(pins)
}

/** Whether the fingerprint equals the remembered one, or none is remembered. */
export function isPinned({ principalId, fingerprint }: { principalId: string; fingerprint: string }): boolean {
  const pinned = readPins()[principalId]
  return pinned === undefined || pinned.fingerprint === fingerprint
}

export interface Checked {
  fingerprint: string
  /** The fingerprint as words, to read aloud and compare. */
  words: string
  /** first: never compared here. verified: compared. changed: differs from the key that was compared or used before. */
  status: 'first' | 'verified' | 'changed'
}

interface Holder {
  principalId: string
  publicKeyJwk: string
}

/** Checks keys against the remembered ones. */
export async function checkKeys(holders: Holder[]): Promise<Checked[]> {
  const publicKeyJwks = holders.map(({ publicKeyJwk }) => publicKeyJwk)
  const fingerprints = await keyring.callLocked('fingerprints', { publicKeyJwks })
  const pins = readPins()
  return fingerprints.map(({ fingerprint, words }, i) => {
    const pinned = pins[holders[i]?.principalId ?? '']
    if (pinned !== undefined && pinned.fingerprint !== fingerprint) return { fingerprint, words, status: 'changed' }
    return { fingerprint, words, status: pinned?.compared ? 'verified' : 'first' }
  })
}

/** All instances of `checkedQuery`. They become stale when a key is pinned. */
export const checkedKeys = { queryKey: ['checked-keys'] }

export const checkedQuery = (holders: Holder[]) =>
  queryOptions({
    queryKey: [...checkedKeys.queryKey, holders.map(({ principalId, publicKeyJwk }) => [principalId, publicKeyJwk])],
    queryFn: () => checkKeys(holders),
    staleTime: 0,
  })

export const useChecked = (holders: Holder[]) => useQuery(checkedQuery(holders)).data

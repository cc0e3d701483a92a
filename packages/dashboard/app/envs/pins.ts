import { queryOptions, useQuery } from '@tanstack/react-query'
import { keyring } from '../keyring.ts'

// Which keys this person has compared with their holders or at least wrapped to, in this browser. Fingerprints are of
// public keys; nothing here is a secret.

const storageName = 'skerry-known-keys'

interface Pin {
  fingerprint: string
  compared: boolean
}

type Pins = Record<string, Pin>

function readPins(): Pins {
  try {
    const pins: unknown = JSON.parse(localStorage.getItem(storageName) ?? '{}')
    return typeof pins === 'object' && pins !== null ? (pins as Pins) : {}
  } catch {
    return {}
  }
}

const writePins = (pins: Pins) => localStorage.setItem(storageName, JSON.stringify(pins))

/** Remembers that a person has compared this key with its holder. */
export const pin = (principalId: string, fingerprint: string): void =>
  writePins({ ...readPins(), [principalId]: { fingerprint, compared: true } })

/** Remembers keys that were wrapped to without being compared, so that a different key is noticed from now on. */
export function remember(holders: { principalId: string; fingerprint: string }[]): void {
  const pins = readPins()
  for (const { principalId, fingerprint } of holders) pins[principalId] ??= { fingerprint, compared: false }
  writePins(pins)
}

/** Whether this is what is remembered, or nothing is. */
export function isPinned({ principalId, fingerprint }: { principalId: string; fingerprint: string }): boolean {
  const pinned = readPins()[principalId]
  return pinned === undefined || pinned.fingerprint === fingerprint
}

export interface Checked {
  fingerprint: string
  /** The fingerprint to be read out and compared. */
  words: string
  /** first: never compared here. verified: compared. changed: not the key that was compared or wrapped to before. */
  status: 'first' | 'verified' | 'changed'
}

interface Holder {
  principalId: string
  publicKeyJwk: string
}

/** Compares keys with those that this person remembers. */
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

/** Every `checkedQuery`: they are stale once a key is pinned. */
export const checkedKeys = { queryKey: ['checked-keys'] }

export const checkedQuery = (holders: Holder[]) =>
  queryOptions({
    queryKey: [...checkedKeys.queryKey, holders.map(({ principalId, publicKeyJwk }) => [principalId, publicKeyJwk])],
    queryFn: () => checkKeys(holders),
    staleTime: 0,
  })

export const useChecked = (holders: Holder[]) => useQuery(checkedQuery(holders)).data

import { queryOptions, useQuery } from '@tanstack/react-query'
import { keyring } from '../keyring.ts'

// Which keys this person has compared with their holders, in this browser. Fingerprints are of public keys; nothing here
// is a secret.

const storageName = 'skerry-verified-keys'

type Pins = Record<string, string>

function readPins(): Pins {
  try {
    const pins: unknown = JSON.parse(localStorage.getItem(storageName) ?? '{}')
    return typeof pins === 'object' && pins !== null ? (pins as Pins) : {}
  } catch {
    return {}
  }
}

/** Remembers that a person has compared this key with its holder. */
export function pin(principalId: string, fingerprint: string): void {
  localStorage.setItem(storageName, JSON.stringify({ ...readPins(), [principalId]: fingerprint }))
}

export interface Checked {
  fingerprint: string
  /** The fingerprint to be read out and compared. */
  words: string
  /** first: never compared here. verified: the key that was. changed: another than the one that was. */
  standing: 'first' | 'verified' | 'changed'
}

interface Holder {
  principalId: string
  publicKeyJwk: string
}

/** Their keys against those that this person has compared before. */
export async function checkKeys(holders: Holder[]): Promise<Checked[]> {
  const publicKeyJwks = holders.map(({ publicKeyJwk }) => publicKeyJwk)
  const fingerprints = await keyring.callLocked('fingerprints', { publicKeyJwks })
  const pins = readPins()
  return fingerprints.map(({ fingerprint, words }, i) => {
    const pinned = pins[holders[i]?.principalId ?? '']
    const standing = pinned === undefined ? 'first' : pinned === fingerprint ? 'verified' : 'changed'
    return { fingerprint, words, standing }
  })
}

export const checkedQuery = (holders: Holder[]) =>
  queryOptions({
    queryKey: ['checked-keys', holders.map(({ principalId, publicKeyJwk }) => [principalId, publicKeyJwk])],
    queryFn: () => checkKeys(holders),
    staleTime: 0,
  })

export const useChecked = (holders: Holder[]) => useQuery(checkedQuery(holders)).data

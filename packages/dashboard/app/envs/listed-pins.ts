import { idPrefixes } from '@skerry/contract/prefixes'
import { type Pin, pin, readPins, writePins } from './pins.ts'

// Remembers which known keys the signed directory has listed. A signer accepts no such key again once its entry has ended.

/** Remembers of known people and tokens that the signed directory lists their keys. The entry of a worker may come back. */
export function noteListed(principalIds: readonly string[]): void {
  const pins = readPins()
  const holders = principalIds.filter((id) => id.startsWith(idPrefixes.user) || id.startsWith(idPrefixes.serviceToken))
  const listed = holders.flatMap((id): [string, Pin][] =>
    pins[id] && !pins[id].wasListed ? [[id, { ...pins[id], wasListed: true }]] : [],
  )
  if (listed.length > 0) writePins({ ...pins, ...Object.fromEntries(listed) })
}

/** Remembers the key of a person whose words were compared anew, also if a signer had ended their entry. */
export function pinAnew(principalId: string, fingerprint: string, shown: Pick<Pin, 'name' | 'email'>): void {
  const { [principalId]: _, ...others } = readPins()
  writePins(others)
  pin(principalId, fingerprint, shown)
}

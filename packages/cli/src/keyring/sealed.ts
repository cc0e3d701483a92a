import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, writePrivate } from '../files.ts'
import { stateFolder } from '../folders.js'

/** A person's keys as they are stored. The private key is encrypted under the passphrase. */
export interface SealedKeys {
  publicKeyJwk: string
  encryptedPrivateKey: string
}

const pathOf = (url: string, userId: string) =>
  join(stateFolder(), 'keyring', `${createHash('sha256').update(`${url}\n${userId}`).digest('hex').slice(0, 32)}.json`)

/** The keys that were opened on this machine before; undefined if there are none, or none that are usable. */
export function readSealed(url: string, userId: string): SealedKeys | undefined {
  try {
    const { publicKeyJwk, encryptedPrivateKey } = JSON.parse(readIfThere(pathOf(url, userId)) ?? '{}')
    if (typeof publicKeyJwk === 'string' && typeof encryptedPrivateKey === 'string') {
      return { publicKeyJwk, encryptedPrivateKey }
    }
  } catch {
    // A file in another format counts as missing.
  }
}

export function keepSealed(url: string, userId: string, { publicKeyJwk, encryptedPrivateKey }: SealedKeys): void {
  writePrivate(pathOf(url, userId), `${JSON.stringify({ publicKeyJwk, encryptedPrivateKey }, null, 2)}\n`)
}

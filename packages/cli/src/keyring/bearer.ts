import { join } from 'node:path'
import { decodeBase64url, decodeUtf8, encodeBase64url, encodeUtf8 } from '@skerry/crypto/base64url'
import { importAesKey, openGcm, sealGcm } from '@skerry/crypto/gcm'
import { randomBytes } from '@skerry/crypto/random'
import type { PersonSession } from '../credentials.ts'
import { Failure } from '../failure.ts'
import { readIfThere, writePrivate } from '../files.ts'
import { stateFolder } from '../folders.js'

// Stores the bearer token of a CLI session. The token decrypts nothing, but it acts as the person: it reads names and
// sizes, deletes, and manages members. It belongs into the system's keyring. Without one it is encrypted in a file, and
// the key is in a file of another folder. That only protects copies of the configuration (backups, dotfiles). A program
// that reads the whole home folder gets both.

const service = 'skerry'

/** Stores the bearer. Returns the fields for the profile: `sealed` if no keyring has stored the bearer. */
export async function storeBearer(profile: string, id: string, bearer: string): Promise<{ sealed?: string }> {
  if (await inKeyring((entry) => entry.setPassword(bearer), profile)) return {}
  const { iv, ciphertext } = await sealGcm(await fileKey(), encodeUtf8(bearer), encodeUtf8(id))
  return { sealed: `${encodeBase64url(iv)}.${encodeBase64url(ciphertext)}` }
}

export async function openBearer(profile: string, { id, sealed }: PersonSession): Promise<string> {
  let bearer: string | null | undefined
  if (sealed === undefined) {
    await inKeyring((entry) => {
      bearer = entry.getPassword()
    }, profile)
  } else {
    const [iv = '', ciphertext = ''] = sealed.split('.')
    const open = async () =>
      decodeUtf8(await openGcm(await fileKey(), decodeBase64url(iv), decodeBase64url(ciphertext), encodeUtf8(id)))
    bearer = await open().catch(() => undefined)
  }
  if (bearer) return bearer
  throw new Failure('refused', `the session of ${profile} cannot be read on this machine`, 'run `skerry login`')
}

export async function forgetBearer(profile: string): Promise<void> {
  await inKeyring((entry) => entry.deletePassword(), profile)
}

interface Entry {
  setPassword(password: string): void
  getPassword(): string | null
  deletePassword(): unknown
}

/**
 * Runs `work` on the system's keyring, and returns whether that succeeded. The module is loaded only when needed: it is
 * native code, which not every platform has.
 */
async function inKeyring(work: (entry: Entry) => void, profile: string): Promise<boolean> {
  if (process.env.SKERRY_KEYRING === 'off') return false
  try {
    const { Entry } = await import('@napi-rs/keyring')
    work(new Entry(service, profile))
    return true
  } catch {
    return false
  }
}

async function fileKey(): Promise<CryptoKey> {
  const path = join(stateFolder(), 'session.key')
  const known = readIfThere(path)?.trim()
  if (known !== undefined) return importAesKey(decodeBase64url(known))
  const bytes = randomBytes(32)
  writePrivate(path, `${encodeBase64url(bytes)}\n`)
  return importAesKey(bytes)
}

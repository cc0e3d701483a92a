import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'

// The only key of the server itself. It cannot decrypt the secrets of users: clients encrypt those. It encrypts data
// that the server must be able to use and that a copy of the database must not reveal.

/**
 * The sealed data and where it is stored. `skerry-server rekey` and the check at start use this table, so a purpose
 * without a row does not compile, and a test finds sealed columns without a row. A sealed text is bound to `about`: the
 * columns of `key`, joined by spaces.
 */
export const sealed = {
  'signing-key': { table: 'signing_keys', key: ['id'], column: 'sealed_private_key' },
  'totp-secret': { table: 'totp_factors', key: ['user_id'], column: 'sealed_secret' },
  keypair: { table: 'server_keypairs', key: ['org_id', 'purpose', 'owner_id'], column: 'sealed_private_key' },
  'export-key': { table: 'export_signing_keys', key: ['id'], column: 'sealed_private_key' },
  'log-sink-headers': { table: 'log_sinks', key: ['org_id'], column: 'sealed_headers' },
  'vault-webhook-secret': { table: 'vault_webhooks', key: ['org_id', 'id'], column: 'sealed_secret' },
  // A cookie of a running sign-in, which ends within ten minutes.
  'external-sign-in': null,
} as const satisfies Record<string, { table: string; key: readonly string[]; column: string } | null>

/**
 * The purpose of a derived key. A blob sealed for one purpose cannot be opened for another, and a code of one purpose
 * cannot be forged from another.
 */
export type SealedFor = keyof typeof sealed
type CodeFor = 'recovery-code' | 'refresh-token' | 'sync-value'

export interface ServerKey {
  /**
   * Encrypts with AES-256-GCM and a random 96-bit IV: `sk1.<iv>.<ciphertext and tag>`, bound to `about`, such as the id
   * of its row.
   */
  seal(purpose: SealedFor, about: string, plain: string): string
  /** Returns the text, or undefined if the key, the purpose or `about` differs, or a byte was changed. */
  open(purpose: SealedFor, about: string, sealed: string): string | undefined
  /** Seals the same text under the newest key. Returns null if it already is, and undefined if no key opens it. */
  reseal(purpose: SealedFor, about: string, sealed: string): string | null | undefined
  /** HMAC-SHA256, base64url. */
  mac(purpose: CodeFor, text: string): string
  /**
   * Returns the codes of a text under every key: first the code of `mac`, then that of the previous key, if there is
   * one.
   */
  macs(purpose: CodeFor, text: string): [string, ...string[]]
}

/**
 * @param key 32 bytes as base64url
 * @param previous the former key during a key change: it still opens, but seals nothing
 */
export function serverKeyOf(key: string, previous: string | null = null): ServerKey {
  const newest = keyring(key)
  const others = previous === null ? [] : [keyring(previous)]
  const { seal, open, mac } = newest
  const openAny: ServerKey['open'] = (...blob) =>
    open(...blob) ?? others.map((other) => other.open(...blob)).find((text) => text !== undefined)
  return {
    seal,
    open: openAny,
    reseal(purpose, about, sealed) {
      if (open(purpose, about, sealed) !== undefined) return null
      const text = openAny(purpose, about, sealed)
      return text === undefined ? undefined : seal(purpose, about, text)
    },
    mac,
    macs: (purpose, text) => [mac(purpose, text), ...others.map((other) => other.mac(purpose, text))],
  }
}

/** The functions of one root key and the keys derived from it. */
function keyring(key: string): Pick<ServerKey, 'seal' | 'open' | 'mac'> {
  const root = Buffer.from(key, 'base64url')
  const derived = new Map<string, Buffer>()
  const keyFor = (purpose: SealedFor | CodeFor): Buffer => {
    const known = derived.get(purpose)
    if (known) return known
    const made = Buffer.from(hkdfSync('sha256', root, '', `skerry/server-key/v1/${purpose}`, 32))
    derived.set(purpose, made)
    return made
  }
  return {
    seal(purpose, about, plain) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), iv).setAAD(Buffer.from(about))
      const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `sk1.${iv.toString('base64url')}.${ciphertext.toString('base64url')}`
    },
    open(purpose, about, sealed) {
      const [, iv, ciphertext] = /^sk1\.([\w-]{16})\.([\w-]{22,})$/.exec(sealed) ?? []
      if (iv === undefined || ciphertext === undefined) return undefined
      const bytes = Buffer.from(ciphertext, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), Buffer.from(iv, 'base64url'), {
        authTagLength: 16,
      })
      decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(-16))
      try {
        return decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        return undefined
      }
    },
    mac: (purpose, text) => createHmac('sha256', keyFor(purpose)).update(text).digest('base64url'),
  }
}

/**
 * Loads the server key from the settings. Without a setting, the embedded database uses a key that is created once and
 * stored next to it. PostgreSQL gets none, because several servers may share it, and each would create its own.
 */
export async function loadServerKey(config: Config): Promise<ServerKey | null> {
  if (config.serverKey !== null) return serverKeyOf(config.serverKey, config.serverKeyPrevious)
  if (config.databaseUrl !== null) return null
  const path = join(config.dataDir, 'server.key')
  const text = (await readIfThere(path)) ?? (await create(path))
  if (!/^[\w-]{43}\n?$/.test(text)) throw new Error(`${path}: is not a server key`)
  return serverKeyOf(text.trim())
}

const readIfThere = (path: string) =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/**
 * Creates the file completely or not at all, and never overwrites one. It is written and synced under another name, and
 * then linked.
 */
async function create(path: string): Promise<string> {
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  const aside = `${path}.${randomBytes(8).toString('hex')}`
  try {
    await using file = await open(aside, 'wx', 0o600)
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await file.sync()
    await link(aside, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(aside, { force: true })
  }
  await using folder = await open(join(path, '..'), 'r')
  await folder.sync()
  return readFile(path, 'utf8')
}

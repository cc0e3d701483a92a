import { createPrivateKey, generateKeyPairSync, hash, sign } from 'node:crypto'
import type { Sql } from '../db/database.ts'
import type { ServerKey } from './server-key.ts'

/**
 * The key that signs data for checks outside the server: checkpoints of the audit log, and archives. It never changes.
 */
export interface ExportKey {
  /** Returns null if there is no server key, or nothing has been signed yet. */
  published(db: Sql): Promise<PublishedKey | null>
  /** Returns the signer. The first call creates the key. Null without a server key. */
  signer(db: Sql): Promise<Signer | null>
}

interface PublishedKey {
  algorithm: 'Ed25519'
  /** The 32 bytes of the key, base64url. */
  publicKey: string
  keyId: string
}

export interface Signer {
  keyId: string
  publicKey: Buffer
  sign(text: string): Buffer
}

/** The id of the only row: the whole server has one key. */
const id = 'ed25519'

interface Row {
  publicKey: string
  sealedPrivateKey: string
}

export function openExportKey(serverKey: ServerKey | null, now: () => Date): ExportKey {
  return {
    async published(db) {
      const row = serverKey && (await find(db))
      return row ? { algorithm: 'Ed25519', publicKey: row.publicKey, keyId: keyIdOf(row.publicKey) } : null
    },
    async signer(db) {
      if (serverKey === null) return null
      const row = (await find(db)) ?? (await make(db, serverKey, now().toISOString()))
      const pkcs8 = serverKey.open('export-key', id, row.sealedPrivateKey)
      if (pkcs8 === undefined) throw new Error('the server key does not open the key that signs checkpoints')
      const key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64url'), format: 'der', type: 'pkcs8' })
      return {
        keyId: keyIdOf(row.publicKey),
        publicKey: Buffer.from(row.publicKey, 'base64url'),
        sign: (text) => sign(null, Buffer.from(text), key),
      }
    },
  }
}

const keyIdOf = (publicKey: string): string =>
  hash('sha256', Buffer.from(publicKey, 'base64url'), 'buffer').subarray(0, 12).toString('base64url')

const find = (db: Sql) =>
  db.row<Row>('select public_key, sealed_private_key from export_signing_keys where id = $1', [id])

/** Creates the key. If two servers do it at once, the second one uses the key of the first. */
async function make(db: Sql, serverKey: ServerKey, now: string): Promise<Row> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'jwk' }).x as string
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url')
  await db.rows(
    `insert into export_signing_keys (id, public_key, sealed_private_key, created_at) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [id, raw, serverKey.seal('export-key', id, pkcs8), now],
  )
  return (await find(db)) as Row
}

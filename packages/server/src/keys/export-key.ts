import { createPrivateKey, generateKeyPairSync, hash, sign } from 'node:crypto'
import type { Sql } from '../db/database.ts'
import type { ServerKey } from './server-key.ts'

/** The key with which the server signs what is checked elsewhere: checkpoints of audit trails, and archives. It never changes. */
export interface ExportKey {
  /** Null where there is no server key, or nothing has been signed yet. */
  published(db: Sql): Promise<PublishedKey | null>
  /** For what is signed now; the key is made with the first. Null without a server key. */
  signer(db: Sql): Promise<Signer | null>
}

interface PublishedKey {
  algorithm: 'Ed25519'
  /** The 32 bytes, base64url. */
  publicKey: string
  keyId: string
}

export interface Signer {
  keyId: string
  publicKey: Buffer
  sign(text: string): Buffer
}

/** One for the whole server, so this is the id of its only row. */
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

/** The second of two servers that make a key at once takes that of the first. */
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

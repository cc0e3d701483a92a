import { randomBytes } from 'node:crypto'
import { limits } from '@skerry/contract/limits'
import type { Tx } from '../../db/database.ts'
import type { ServerKey } from '../../keys/server-key.ts'
import { replaceRecoveryCodes, takeRecoveryCode } from './store.ts'

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** 50 bits: five letters, a hyphen, five letters. */
function newCode(): string {
  const letters = [...randomBytes(10)].map((byte) => base32[byte % 32]).join('')
  return `${letters.slice(0, 5)}-${letters.slice(5)}`
}

/** Keyed with the server key: a thief of the database could search 50 bits under a plain hash. */
const hashesOf = (serverKey: ServerKey, userId: string, code: string) =>
  serverKey.macs('recovery-code', `${userId} ${code}`)

/** Ten codes in place of those before. Shown now and never again. */
export async function newRecoveryCodes(db: Tx, serverKey: ServerKey, userId: string): Promise<string[]> {
  const codes = Array.from({ length: limits.recoveryCodes }, newCode)
  await replaceRecoveryCodes(
    db,
    userId,
    codes.map((code) => hashesOf(serverKey, userId, code)[0]),
  )
  return codes
}

/** True once for each code. Those of the previous server key are good for as long as that is set. */
export const isRecoveryCode = (db: Tx, serverKey: ServerKey, userId: string, code: string, now: string) =>
  takeRecoveryCode(db, userId, hashesOf(serverKey, userId, code), now)

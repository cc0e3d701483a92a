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

/** The hash is keyed with the server key, because a thief of the database could search 50 bits under a plain hash. */
const hashesOf = (serverKey: ServerKey, userId: string, code: string) =>
  serverKey.macs('recovery-code', `${userId} ${code}`)

/** Replaces the recovery codes with ten new ones, which are shown only now. */
export async function newRecoveryCodes(db: Tx, serverKey: ServerKey, userId: string): Promise<string[]> {
  const codes = Array.from({ length: limits.recoveryCodes }, newCode)
  await replaceRecoveryCodes(
    db,
    userId,
    codes.map((code) => hashesOf(serverKey, userId, code)[0]),
  )
  return codes
}

/** Returns true once for each code. Codes of the previous server key work for as long as that key is set. */
export const isRecoveryCode = (db: Tx, serverKey: ServerKey, userId: string, code: string, now: string) =>
  takeRecoveryCode(db, userId, hashesOf(serverKey, userId, code), now)

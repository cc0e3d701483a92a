import { randomBytes } from 'node:crypto'
import type { CryptoKey, JWK } from 'jose'
import type { Sql } from '../db/database.ts'
import { fail } from '../kernel/errors.ts'
import type { ServerKey } from '../keys/server-key.ts'
import {
  deleteSigningKeys,
  findSigningKey,
  insertSigningKey,
  listSigningKeys,
  newestSigningKey,
} from './session-store.ts'

// Session tokens are JWTs that are valid for minutes and signed with ES256. A token names its session. Each request
// checks in the database that the session is still valid (sessions.ts).

/** `iss` and `aud` of our own tokens. It is not a URL, so it never equals a configured issuer. */
export const ownIssuer = 'skerry'
const type = 'skerry-session+jwt'
const algorithm = 'ES256'
const signsForMs = 30 * 86_400_000
/**
 * How long a replaced key still verifies tokens. It is longer than the lifetime of a token and the clock differences
 * between servers.
 */
const verifiesAfterwardsMs = 3_600_000

/** Whether the token claims to be one of ours. The unverified claim only selects the verifier. */
export function isOwnToken(jwt: string): boolean {
  try {
    return JSON.parse(Buffer.from(jwt.split('.')[1] as string, 'base64url').toString())?.iss === ownIssuer
  } catch {
    return false
  }
}

interface SessionClaims {
  sessionId: string
  userId: string
}

export interface SessionTokens {
  /** Signs a token for a session. `db` is the transaction that starts or renews the session. */
  sign(db: Sql, claims: SessionClaims, expiresAt: string): Promise<string>
  /** Returns the claims of a valid token, or refuses with 401. */
  verify(db: Sql, jwt: string): Promise<SessionClaims>
  /** Forgets all keys, because they belong to another database. Other servers cannot find them in the new one. */
  clear(): void
}

interface Signer {
  kid: string
  privateKey: CryptoKey
  untilMs: number
}

interface Verifier {
  publicKey: CryptoKey
  untilMs: number
}

export function openSessionTokens(serverKey: ServerKey | null, now: () => Date): SessionTokens {
  const verifiers = new Map<string, Verifier>()
  let signer: Signer | undefined
  /** Incremented by `clear`, so that a key that was read before is not cached after it. */
  let generation = 0

  const currentSigner = async (db: Sql): Promise<Signer> => {
    if (signer && signer.untilMs > now().getTime()) return signer
    if (!serverKey) throw new Error('only what has a server key signs')
    const readIn = generation
    const row = await newestSigningKey(db)
    const untilMs = row ? Date.parse(row.createdAt) + signsForMs : 0
    // A new key is cached only after it was read back, because the transaction may still be rolled back.
    if (!row || untilMs <= now().getTime()) return makeSigner(db, serverKey, now())
    const found = { kid: row.id, privateKey: await openPrivateKey(serverKey, row), untilMs }
    if (readIn === generation) signer = found
    return found
  }
  const verifierOf = async (db: Sql, kid: string): Promise<Verifier | undefined> => {
    const known = verifiers.get(kid)
    if (known) return known
    const readIn = generation
    const row = await findSigningKey(db, kid)
    if (!row) return undefined
    const { importJWK } = await jose()
    const publicKey = (await importJWK(JSON.parse(row.publicKeyJwk), algorithm)) as CryptoKey
    const verifier = { publicKey, untilMs: Date.parse(row.createdAt) + signsForMs + verifiesAfterwardsMs }
    if (readIn === generation) verifiers.set(kid, verifier)
    return verifier
  }

  return {
    clear() {
      generation++
      signer = undefined
      verifiers.clear()
    },
    async sign(db, { sessionId, userId }, expiresAt) {
      const { SignJWT } = await jose()
      const { kid, privateKey } = await currentSigner(db)
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: type, kid })
        .setIssuer(ownIssuer)
        .setAudience(ownIssuer)
        .setSubject(userId)
        .setIssuedAt(now())
        .setExpirationTime(new Date(expiresAt))
        .sign(privateKey)
    },
    async verify(db, jwt) {
      const { decodeProtectedHeader, errors, jwtVerify } = await jose()
      try {
        const { kid } = decodeProtectedHeader(jwt)
        const verifier = typeof kid === 'string' && kidForm.test(kid) ? await verifierOf(db, kid) : undefined
        if (!verifier || verifier.untilMs <= now().getTime()) throw refused()
        const { payload } = await jwtVerify(jwt, verifier.publicKey, {
          algorithms: [algorithm],
          typ: type,
          issuer: ownIssuer,
          audience: ownIssuer,
          requiredClaims: ['sub', 'sid', 'exp', 'iat'],
          currentDate: now(),
        })
        // The claims must be byte for byte in our format: no claim twice, no other spelling, no list of audiences.
        const { aud, sid, sub } = payload
        if (!isExact(jwt) || aud !== ownIssuer || typeof sid !== 'string' || typeof sub !== 'string') throw refused()
        return { sessionId: sid, userId: sub }
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
          throw refused()
        throw error
      }
    },
  }
}

/** Loaded for the first session, so that a server for machines only uses less memory. */
const jose = () => import('jose')

const kidForm = /^[\w-]{16}$/
const refused = () => fail('unauthorized', 'session token refused')

function isExact(jwt: string): boolean {
  const text = Buffer.from(jwt.split('.')[1] as string, 'base64url').toString()
  return JSON.stringify(JSON.parse(text)) === text
}

async function makeSigner(db: Sql, serverKey: ServerKey, now: Date): Promise<Signer> {
  const { exportJWK, generateKeyPair } = await jose()
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  const id = randomBytes(12).toString('base64url')
  await insertSigningKey(db, {
    id,
    publicKeyJwk: JSON.stringify(await exportJWK(publicKey)),
    sealedPrivateKey: serverKey.seal('signing-key', id, JSON.stringify(await exportJWK(privateKey))),
    createdAt: now.toISOString(),
  })
  return { kid: id, privateKey, untilMs: now.getTime() + signsForMs }
}

async function openPrivateKey(serverKey: ServerKey, row: { id: string; sealedPrivateKey: string }): Promise<CryptoKey> {
  const { importJWK } = await jose()
  const text = serverKey.open('signing-key', row.id, row.sealedPrivateKey)
  if (text === undefined) throw new Error('the server key does not open what signs sessions')
  return (await importJWK(JSON.parse(text), algorithm)) as CryptoKey
}

/** Returns the public keys for all valid tokens, in the form of a JWK Set (RFC 7517). */
export async function publishedKeys(db: Sql, now: Date): Promise<JWK[]> {
  const rows = await listSigningKeys(db, oldest(now))
  return rows.map(({ id, publicKeyJwk }) => ({ ...JSON.parse(publicKeyJwk), kid: id, alg: algorithm, use: 'sig' }))
}

export const deleteOldSigningKeys = (db: Sql, now: Date) => deleteSigningKeys(db, oldest(now))

const oldest = (now: Date): string => new Date(now.getTime() - signsForMs - verifiesAfterwardsMs).toISOString()

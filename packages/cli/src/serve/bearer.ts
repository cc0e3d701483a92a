import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { Failure } from '../failure.ts'
import { readIfThere, writeNamed, writePrivate } from '../files.ts'
import { configFolder } from '../folders.js'

const defaultFile = () => join(configFolder(), 'serve-token')

/** The token that callers of a port must send, in a file: an argument could be read by every user of the machine. */
export interface Bearer {
  file: string
  isSentIn: (authorization: string | undefined) => boolean
}

/** Reads the token from its file. A file that does not exist is made with a new token, for its owner alone. */
export function openBearer(named: string | undefined): Bearer {
  const file = named ?? defaultFile()
  const token = (readIfThere(file) ?? make(file, named === undefined)).trim()
  if (!/^[\w.~+/=-]{32,1024}$/.test(token))
    throw new Failure(
      'failure',
      `${file} contains no token for callers`,
      'write 32 or more letters and digits into it, or delete it, and `skerry serve` creates a new one',
    )
  const expected = hash(`Bearer ${token}`)
  return {
    file,
    // Hashes have one length, so the comparison takes the same time for every text.
    isSentIn: (authorization = '') => timingSafeEqual(hash(authorization.replace(/^bearer +/i, 'Bearer ')), expected),
  }
}

const hash = (text: string) => createHash('sha256').update(text).digest()

function make(file: string, isOwn: boolean): string {
  const token = `${randomBytes(32).toString('base64url')}\n`
  if (isOwn) writePrivate(file, token)
  else writeNamed(file, token, {})
  return token
}

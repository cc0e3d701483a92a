import { CryptoError } from '@skerry/crypto/errors'
import { SkerryError } from '@skerry/sdk/errors'
import { readAuditArchive } from '@skerry/sdk/internal/audit-archive'
import type { ProvenArchive } from '@skerry/sdk/internal/audit-proof'
import { Failure, usage } from '../failure.ts'
import { readPieces } from '../kms/bytes.ts'
import { type Output, writeLine } from '../output.ts'
import type { Flags } from '../settings.ts'
import { count } from '../units.ts'

export async function verifyArchive(path: string, { key }: Flags & { key: string }): Promise<Output> {
  checkPublicKey(key)
  const archive = await readArchive(path, [key])
  const { start, size } = archive
  return {
    json: archive,
    text: () =>
      writeLine(
        `${count(size - start, 'entry', 'entries')}, from ${start} to ${size - 1}, match the server’s signature`,
      ),
  }
}

export function checkPublicKey(key: string): void {
  if (!/^[A-Za-z0-9_-]{43}$/.test(key))
    throw usage('--key must be the 43-character key that `skerry org export` printed')
}

/** @param publicKeys the keys with which the server that made the archive signs, or signed earlier */
export async function readArchive(path: string, publicKeys: readonly string[]): Promise<ProvenArchive> {
  try {
    return await readAuditArchive(readPieces(path), publicKeys)
  } catch (error) {
    if (isOfUnknownKey(error)) throw unknownKey(path)
    if (!(error instanceof SkerryError)) throw error
    throw new Failure('refused', `${path}: ${error.message}`, 'use another copy of it')
  }
}

export const isOfUnknownKey = (error: unknown): boolean =>
  error instanceof CryptoError && error.code === 'other_checkpoint_key'

/** The error for a file whose signing key this machine does not know: a forgery, or of a key that the server had earlier. */
export const unknownKey = (path: string) =>
  new Failure(
    'refused',
    `${path} is signed with a key that this machine does not know`,
    'if the operator replaced the signing key of the server, give the earlier key with --key; a machine that verified the log before shows it with `skerry audit checkpoint --json`',
  )

import { SkerryError } from '@skerry/sdk/errors'
import { readAuditArchive } from '@skerry/sdk/internal/audit-archive'
import type { ProvenArchive } from '@skerry/sdk/internal/audit-proof'
import { Failure, usage } from '../failure.ts'
import { readPieces } from '../kms/bytes.ts'
import { type Output, writeLine } from '../output.ts'
import type { Flags } from '../settings.ts'
import { count } from '../units.ts'

export async function verifyArchive(path: string, { key }: Flags & { key: string }): Promise<Output> {
  if (!/^[A-Za-z0-9_-]{43}$/.test(key))
    throw usage('--key must be the 43-character key that `skerry org export` printed')
  const archive = await readArchive(path, key)
  const { start, size } = archive
  return {
    json: archive,
    text: () =>
      writeLine(
        `${count(size - start, 'entry', 'entries')}, from ${start} to ${size - 1}, match the server’s signature`,
      ),
  }
}

/** @param publicKey the public key of the server that made the archive */
export async function readArchive(path: string, publicKey: string): Promise<ProvenArchive> {
  try {
    return await readAuditArchive(readPieces(path), publicKey)
  } catch (error) {
    if (!(error instanceof SkerryError)) throw error
    throw new Failure('refused', `${path}: ${error.message}`, 'use another copy of it')
  }
}

import { createHash } from 'node:crypto'
import { type CheckedArchive, checkArchive, DamagedArchive } from '@skerry/contract/export/archive-check'
import type { ArchiveSignature } from '@skerry/contract/export/archive-format'
import { decodeBase64url, encodeUtf8 } from '@skerry/crypto/base64url'
import { openArchiveTrail } from '@skerry/sdk/internal/archive-trail'
import { Failure, usage } from '../failure.ts'
import { readPieces } from '../kms/bytes.ts'
import { note, type Output, warn, writeLine } from '../output.ts'
import type { Flags } from '../settings.ts'
import { startProgress } from './progress.ts'

interface Options extends Flags {
  key?: string
  unsigned?: boolean
}

export async function verify(path: string, { key, unsigned }: Options): Promise<Output> {
  if ((key === undefined) === (unsigned !== true))
    throw usage('say with which key the archive was signed', 'use --key, or --unsigned to check its digests alone')
  const trail = await openArchiveTrail()
  const progress = startProgress()
  const tools = {
    sha256: () => createHash('sha256'),
    verify: key === undefined ? undefined : signedBy(key),
    onRow: trail.add,
  }
  const { manifest, signature } = await refusing(() => checkArchive(progress.counting(readPieces(path)), tools))
  progress.end()
  const { size, isSigned } = await trail.finish(manifest.organization.id, key)
  if (isSigned === false)
    throw new Failure('refused', 'the audit entries are not those that the checkpoint of the trail was signed for')
  const rows = manifest.sections.reduce((sum, section) => sum + section.rows, 0)
  return {
    json: { ...manifest, signature, provenAuditEntries: isSigned ? size : 0 },
    text: () => {
      const { organization, createdAt, sections } = manifest
      writeLine(`${organization.slug}, as it was at ${createdAt}: ${rows} rows, all as they were written`)
      if (isSigned) writeLine(`${size} audit entries are what the server has signed`)
      for (const { name, truncated } of sections) if (truncated) note(`${name} was cut short by a limit`)
      if (key === undefined) warn('nobody has looked at who made it')
    },
  }
}

async function refusing(check: () => Promise<CheckedArchive>): Promise<CheckedArchive> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof DamagedArchive)) throw error
    throw new Failure('refused', `the archive was changed: ${error.message}`, 'use another copy of it')
  }
}

function signedBy(publicKey: string): (text: string, signature: ArchiveSignature) => Promise<boolean> {
  const raw = /^[A-Za-z0-9_-]{43}$/.test(publicKey) ? decodeBase64url(publicKey) : undefined
  if (!raw) throw usage('--key takes the 43 characters that `skerry org export` shows')
  return async (text, { value }) => {
    const key = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
    try {
      return await crypto.subtle.verify('Ed25519', key, decodeBase64url(value), encodeUtf8(text))
    } catch {
      return false
    }
  }
}

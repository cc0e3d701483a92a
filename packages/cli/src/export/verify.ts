import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import {
  type ArchiveTools,
  type CheckedArchive,
  checkArchive,
  DamagedArchive,
} from '@skerry/contract/export/archive-check'
import type { ArchiveSignature } from '@skerry/contract/export/archive-format'
import { respellArchive, respelledBytesMax } from '@skerry/contract/export/archive-spelling'
import { decodeBase64url, encodeUtf8 } from '@skerry/crypto/base64url'
import { canonicalJson } from '@skerry/crypto/canonical-json'
import { type ArchiveTrail, openArchiveTrail } from '@skerry/sdk/internal/archive-trail'
import { Failure, usage } from '../failure.ts'
import { readPieces } from '../kms/bytes.ts'
import { note, type Output, warn, writeLine } from '../output.ts'
import type { Flags } from '../settings.ts'
import { shownMoment } from '../times.ts'
import { startProgress } from './progress.ts'

interface Options extends Flags {
  key?: string
  unsigned?: boolean
}

export async function verify(path: string, { key, unsigned }: Options): Promise<Output> {
  if ((key === undefined) === (unsigned !== true))
    throw usage(
      'the key that signed the archive is missing',
      'use --key <key>, or --unsigned to check only its digests',
    )
  const signed = key === undefined ? undefined : signedBy(key)
  const { manifest, signature, trail } = await checkAsWritten(path, signed)
  const { size, isSigned } = await trail.finish(manifest.organization.id, key)
  if (isSigned === false)
    throw new Failure('refused', 'the audit entries do not match the signed checkpoint of the audit log')
  const rows = manifest.sections.reduce((sum, section) => sum + section.rows, 0)
  return {
    json: { ...manifest, signature, provenAuditEntries: isSigned ? size : 0 },
    text: () => {
      const { organization, createdAt, sections } = manifest
      writeLine(`${organization.slug} at ${shownMoment(createdAt)}: all ${rows} rows are unchanged`)
      if (isSigned) writeLine(`${size} audit entries match the server’s signature`)
      for (const { name, truncated } of sections)
        if (truncated) note(`${name} is incomplete, because the archive reached a limit`)
      if (key === undefined) warn('the signature was not checked; add --key to prove who made the archive')
    },
  }
}

interface Verified extends CheckedArchive {
  trail: ArchiveTrail
}

/**
 * Another program may have reformatted the archive. In that case the archive is checked in the format of the server.
 */
async function checkAsWritten(path: string, signed: ArchiveTools['verify']): Promise<Verified> {
  const progress = startProgress()
  try {
    return await check(progress.counting(readPieces(path)), signed)
  } catch (error) {
    if (!(error instanceof DamagedArchive)) throw error
    const respelled = await respell(path)
    if (respelled === null) throw changed(error)
    return await check(respelled(), signed).catch((error) => {
      throw error instanceof DamagedArchive ? changed(error) : error
    })
  } finally {
    progress.end()
  }
}

async function check(chunks: AsyncIterable<Uint8Array>, verify: ArchiveTools['verify']): Promise<Verified> {
  const trail = await openArchiveTrail()
  const checked = await checkArchive(chunks, { sha256: () => createHash('sha256'), verify, onRow: trail.add })
  return { ...checked, trail }
}

/** Null if the archive is too large to read it whole, or came through a pipe. */
async function respell(path: string) {
  const file = await stat(path).catch(() => null)
  if (!file?.isFile() || file.size > respelledBytesMax) return null
  return respellArchive(await readFile(path, 'utf8'), canonicalJson)
}

const changed = ({ message }: DamagedArchive) =>
  new Failure('refused', `the archive was changed: ${message}`, 'use another copy of it')

function signedBy(publicKey: string): (text: string, signature: ArchiveSignature) => Promise<boolean> {
  const raw = /^[A-Za-z0-9_-]{43}$/.test(publicKey) ? decodeBase64url(publicKey) : undefined
  if (!raw) throw usage('--key must be the 43-character key that `skerry org export` printed')
  return async (text, { value }) => {
    const key = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
    try {
      return await crypto.subtle.verify('Ed25519', key, decodeBase64url(value), encodeUtf8(text))
    } catch {
      return false
    }
  }
}

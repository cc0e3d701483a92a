import { createHash, type Hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ArchiveManifest,
  type ArchiveSection,
  archiveLines,
  openRowDigester,
  type RowDigester,
  rowDigestsSection,
} from '@skerry/contract/export/archive-format'
import canonicalize from 'canonicalize'
import type { Snapshot } from '../../db/database.ts'
import type { Signer } from '../../keys/export-key.ts'
import type { Planned } from './queries.ts'

/** Rows that are in memory at once. A secret may be a megabyte, so there are only a few. */
const batchRows = 64
/**
 * After each batch, the export pauses for five times the time that the batch took. Other requests come first, and keep
 * half of their rate on the embedded database too, where both share a thread. Batches of large secrets take longest, so
 * the maximum pause is longer than they need.
 */
const rests = 5
const restMsMax = 500

export interface Source {
  snapshot: Snapshot
  plan: readonly Planned[]
  manifest: Omit<ArchiveManifest, 'digest' | 'sections'>
  signer: Signer | null
  /** Throws if nobody waits for the archive any more. */
  checkWanted: () => void
}

/** Yields the bytes of an archive as the reader asks for them. */
export async function* writeArchive(source: Source): AsyncGenerator<Buffer> {
  yield bytesOf(archiveLines.begin)
  const written: WrittenSection[] = []
  for (const planned of source.plan) written.push(yield* writeSection(source, planned, written.length === 0))
  const rows = written.flatMap(({ digests }) => digests.rows())
  written.push(yield* writeSection(source, { name: rowDigestsSection, truncated: false, rows, readings: [] }, false))
  const sections: ArchiveSection[] = written.map(({ digests: _, ...section }) => section)
  const digest = createHash('sha256').update(canonical(sections)).digest('hex')
  const manifest = canonical({ ...source.manifest, digest, sections })
  const { signer } = source
  const signature = signer && {
    algorithm: 'Ed25519',
    keyId: signer.keyId,
    value: signer.sign(manifest).toString('base64url'),
  }
  const ending = [archiveLines.endOfData, archiveLines.manifest(manifest)]
  yield bytesOf(...ending, archiveLines.signature(canonical(signature)), archiveLines.end)
}

interface WrittenSection extends ArchiveSection {
  digests: RowDigester
}

async function* writeSection(
  source: Source,
  planned: Planned,
  isFirst: boolean,
): AsyncGenerator<Buffer, WrittenSection> {
  const { name, truncated } = planned
  const all = createHash('sha256')
  const digests = openRowDigester(name)
  yield bytesOf(archiveLines.section(name, isFirst))
  const nextRows = batchesOf(source.snapshot, planned)
  for (;;) {
    const began = performance.now()
    const piece = await pieceOf(nextRows, all, digests)
    if (piece === null) break
    source.checkWanted()
    yield piece
    await sleep(Math.min(restMsMax, rests * (performance.now() - began)))
  }
  yield bytesOf(archiveLines.endOfSection)
  return { name, rows: digests.count, sha256: all.digest('hex'), truncated, digests }
}

type NextRows = () => Promise<readonly object[]>

/**
 * Returns null at the end. Nothing outside of this call refers to the rows, so that their memory is freed before a
 * pause.
 */
async function pieceOf(nextRows: NextRows, all: Hash, digests: RowDigester): Promise<Buffer | null> {
  const rows = await nextRows()
  return rows.length === 0 ? null : bytesOf(...rows.map((row) => addRow(canonical(row), all, digests)))
}

function addRow(text: string, all: Hash, digests: RowDigester): string {
  const isFirst = digests.count === 0
  all.update(isFirst ? text : `\n${text}`)
  digests.add(createHash('sha256').update(text).digest('hex'))
  return archiveLines.row(text, isFirst)
}

/** Returns a function that reads the next batch. An empty batch is the end. */
function batchesOf(snapshot: Snapshot, { rows, readings }: Planned): NextRows {
  let from = 0
  let at = 0
  return async () => {
    if (from < rows.length) {
      from += batchRows
      return rows.slice(from - batchRows, from)
    }
    for (; at < readings.length; at++) {
      const batch = await snapshot.next<object>(readings[at] as number, batchRows)
      if (batch.length > 0) return batch
    }
    return []
  }
}

const canonical = (value: unknown): string => canonicalize(value) as string

/** Uses memory of its own: memory that is shared with other data cannot be freed once it is sent. */
function bytesOf(...lines: string[]): Buffer {
  const text = `${lines.join('\n')}\n`
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

import {
  type ArchiveManifest,
  type ArchiveSection,
  type ArchiveSignature,
  archiveFormat,
  archiveLines,
  openRowDigester,
  type RowDigester,
  type RowDigests,
  rowDigestCharacters,
  rowDigestsSection,
} from './archive-format.ts'

// Checks an archive as a stream, from its first byte to its last. It needs a few megabytes of memory for each million
// rows.

/** The tools that a reader of archives must supply. */
export interface ArchiveTools {
  /** SHA-256, a piece at a time. */
  sha256: () => { update: (bytes: Uint8Array) => unknown; digest: (encoding: 'hex') => string }
  /** Whether the key that the reader trusts has signed a text. Undefined if the reader trusts no key. */
  verify?: ((text: string, signature: ArchiveSignature) => boolean | Promise<boolean>) | undefined
  /** Called with every row. At that time, only the position of the row has been checked. */
  onRow?: ((row: ArchiveRow) => void | Promise<void>) | undefined
}

export interface ArchiveRow {
  section: string
  /** From 0. */
  index: number
  /** The JSON text of the line. */
  text: string
}

/**
 * Says where an archive differs from what the server made. `row` counts from 1, and is null if no single row can be
 * named.
 */
export class DamagedArchive extends Error {
  override readonly name = 'DamagedArchive'
  readonly section: string
  readonly row: number | null

  constructor(section: string, row: number | null, reason: string) {
    super(`${section}${row === null ? '' : `, row ${row}`}: ${reason}`)
    this.section = section
    this.row = row
  }
}

export interface CheckedArchive {
  manifest: ArchiveManifest
  /** Null if the server that made it does not sign. Then nobody can tell who made it. */
  signature: ArchiveSignature | null
}

/**
 * Reads the whole archive and checks every byte of it against its digests and its signature.
 *
 * @param chunks the file, in pieces of any size
 * @throws DamagedArchive, which names section and row; the errors of `onRow`
 * @example const { manifest } = await checkArchive(createReadStream('acme.skerry'), { sha256: () => createHash('sha256') })
 */
export async function checkArchive(chunks: AsyncIterable<Uint8Array>, tools: ArchiveTools): Promise<CheckedArchive> {
  const lines = linesOf(chunks)
  try {
    return await checkLines(lines, tools)
  } finally {
    // Closes the file if the archive is refused before its end.
    await lines.return(undefined)
  }
}

async function checkLines(lines: Lines, tools: ArchiveTools): Promise<CheckedArchive> {
  await expect(lines, archiveLines.begin, 'format')
  const sections = await readSections(lines, tools)
  const manifestText = await textAfter(lines, archiveLines.manifest(''), 'manifest')
  const signatureText = await textAfter(lines, archiveLines.signature(''), 'signature')
  await expect(lines, archiveLines.end, 'end')
  if (!(await lines.next()).done) throw new DamagedArchive('end', null, 'something comes after it')
  const manifest = parse<ArchiveManifest>(manifestText, 'manifest')
  const signature = parse<ArchiveSignature | null>(signatureText, 'signature')
  if (signature !== null && (typeof signature.value !== 'string' || typeof signature.keyId !== 'string'))
    throw new DamagedArchive('signature', null, 'is not one')
  if (signature === null && tools.verify) throw new DamagedArchive('signature', null, 'there is none')
  if (signature !== null && tools.verify && !(await tools.verify(manifestText, signature)))
    throw new DamagedArchive('manifest', null, 'it or its signature was changed')
  checkManifest(manifest, tools)
  compare(manifest.sections, sections)
  return { manifest, signature }
}

interface ReadSection {
  name: string
  rows: number
  sha256: string
  digests: RowDigester
  /** The digests of other sections' rows, if this is the section `rowDigests`. */
  kept: RowDigests[]
}

async function readSections(lines: Lines, tools: ArchiveTools): Promise<ReadSection[]> {
  const sections: ReadSection[] = []
  for (;;) {
    const place = sections.at(-1)?.name ?? 'data'
    const line = decode(await nextLine(lines, place))
    if (line === archiveLines.endOfData) return sections
    const name = /^,?"([A-Za-z]+)":\[$/.exec(line)?.[1]
    if (name === undefined || line !== archiveLines.section(name, sections.length === 0))
      throw new DamagedArchive(place, null, 'what follows it is no section')
    sections.push(await readSection(lines, name, tools))
  }
}

const comma = 44
const newline = 10

async function readSection(lines: Lines, name: string, { sha256, onRow }: ArchiveTools): Promise<ReadSection> {
  const all = sha256()
  const digests = openRowDigester(name)
  const kept: RowDigests[] = []
  for (let index = 0; ; index++) {
    const line = await nextLine(lines, name, index + 1)
    if (line.length === 1 && decode(line) === archiveLines.endOfSection)
      return { name, rows: index, sha256: all.digest('hex'), digests, kept }
    if ((line[0] === comma) !== index > 0) throw new DamagedArchive(name, index + 1, 'is no row')
    const row = index > 0 ? line.subarray(1) : line
    if (index > 0) all.update(Uint8Array.of(newline))
    all.update(row)
    const own = sha256()
    own.update(row)
    digests.add(own.digest('hex'))
    const text = decode(row)
    if (name === rowDigestsSection) kept.push(parseRow(text, name, index))
    await onRow?.({ section: name, index, text })
  }
}

function parseRow(text: string, section: string, index: number): RowDigests {
  try {
    return JSON.parse(text)
  } catch {
    throw new DamagedArchive(section, index + 1, 'is no JSON')
  }
}

function checkManifest({ format, sections, digest }: ArchiveManifest, { sha256 }: ArchiveTools): void {
  if (format !== archiveFormat || !Array.isArray(sections)) throw new DamagedArchive('manifest', null, 'is not one')
  const own = sha256()
  own.update(new TextEncoder().encode(JSON.stringify(sections)))
  if (own.digest('hex') !== digest) throw new DamagedArchive('manifest', null, 'its digest is not that of its sections')
}

/** Compares the sections with the manifest, which is the reference here: a section that differs from it was changed. */
function compare(told: readonly ArchiveSection[], read: readonly ReadSection[]): void {
  for (const [index, { name, rows, sha256 }] of told.entries()) {
    const section = read[index]
    if (section?.name !== name) throw new DamagedArchive(name, null, 'is not where it was')
    if (section.rows !== rows || section.sha256 !== sha256)
      throw new DamagedArchive(name, changedRow(section, read), 'is not what the server made')
  }
  const added = read[told.length]
  if (added) throw new DamagedArchive(added.name, null, 'was added')
}

/** Finds the first row whose digest differs from the stored one, from 1. Null if all digests match. */
function changedRow(section: ReadSection, read: readonly ReadSection[]): number | null {
  const kept = read.at(-1)?.kept ?? []
  const isKept = section.name === rowDigestsSection
  const own = isKept ? read.slice(0, -1).flatMap(({ digests }) => digests.rows()) : section.digests.rows()
  const told = isKept ? kept : kept.filter((row) => row.section === section.name)
  for (let index = 0; index < Math.max(own.length, told.length); index++) {
    const [mine, theirs] = [own[index], told[index]]
    if (mine && theirs && spelt(mine) === spelt(theirs)) continue
    return isKept ? index + 1 : (mine ?? theirs ?? { from: 0 }).from + 1 + firstDifference(mine?.hashes, theirs?.hashes)
  }
  return null
}

const spelt = ({ from, hashes, section }: RowDigests): string => `${section} ${from} ${hashes}`

/** Counts the digests that are the same in both, from the beginning. */
function firstDifference(one = '', other = ''): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return Math.floor(at / rowDigestCharacters)
}

type Lines = AsyncGenerator<Uint8Array>

async function nextLine(lines: Lines, section: string, row: number | null = null): Promise<Uint8Array> {
  const { done, value } = await lines.next()
  if (done) throw new DamagedArchive(section, row, 'the archive ends here')
  return value
}

async function expect(lines: Lines, text: string, section: string): Promise<void> {
  if (decode(await nextLine(lines, section)) !== text)
    throw new DamagedArchive(section, null, `is not ${JSON.stringify(text)}`)
}

async function textAfter(lines: Lines, beginning: string, section: string): Promise<string> {
  const line = decode(await nextLine(lines, section))
  if (!line.startsWith(beginning)) throw new DamagedArchive(section, null, 'is not there')
  return line.slice(beginning.length)
}

/** Accepts only the spelling in which the server writes it. Other bytes with the same meaning are refused. */
function parse<T>(text: string, section: string): T {
  try {
    const value: T = JSON.parse(text)
    if (JSON.stringify(value) === text) return value
  } catch {}
  throw new DamagedArchive(section, null, 'is not what the server made')
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const decode = (bytes: Uint8Array): string => utf8.decode(bytes)

/**
 * Splits at newlines and nothing else. The last line must end with one. A line longer than any row of a server is
 * refused.
 */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): Lines {
  let parts: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      const rest = chunk.subarray(from, at)
      yield parts.length === 0 ? rest : joined([...parts, rest])
      parts = []
      length = 0
      from = at + 1
    }
    if (from < chunk.length) {
      length += chunk.length - from
      if (length > lineBytesMax)
        throw new DamagedArchive('data', null, 'has a line that is longer than any of a server')
      parts.push(chunk.subarray(from))
    }
  }
  if (parts.length > 0) throw new DamagedArchive('end', null, 'its last line does not end')
}

/** Enough for an agent's policy with its rules, or a secret of a megabyte. */
const lineBytesMax = 16 * 1024 * 1024

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

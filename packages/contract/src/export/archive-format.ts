// The format of an organization's archive: one JSON object in which each row is a line. It can be written and read a
// line at a time, whatever its size. This module computes no hash; the reader supplies the hash function.

export const archiveFormat = 'skerry.archive.v1'

/**
 * The section with the beginning of each row's digest, so that a reader can name a changed row. It is always the last
 * section.
 */
export const rowDigestsSection = 'rowDigests'
/** The number of hexadecimal characters that are kept of a row's SHA-256. */
export const rowDigestCharacters = 12
/** The number of rows whose digests are in one row of `rowDigests`. */
const rowDigestsPerRow = 1000

export interface ArchiveSection {
  name: string
  rows: number
  sha256: string
  truncated: boolean
}

export interface ArchiveManifest {
  createdAt: string
  digest: string
  format: typeof archiveFormat
  included: { audit: boolean; auditLimit: number | null; versions: boolean }
  organization: { id: string; slug: string }
  requestedBy: { id: string | null; type: string }
  sections: ArchiveSection[]
}

export interface ArchiveSignature {
  algorithm: 'Ed25519'
  keyId: string
  value: string
}

/** The lines of an archive. `first` is true for the first section, and for the first row of a section. */
export const archiveLines = {
  begin: `{"format":"${archiveFormat}","data":{`,
  section: (name: string, first: boolean) => `${first ? '' : ','}"${name}":[`,
  row: (text: string, first: boolean) => `${first ? '' : ','}${text}`,
  endOfSection: ']',
  endOfData: '}',
  manifest: (text: string) => `,"manifest":${text}`,
  signature: (text: string) => `,"signature":${text}`,
  end: '}',
} as const

/** One row of `rowDigests`: the digests of a section's rows from `from` on. */
export interface RowDigests {
  from: number
  hashes: string
  section: string
}

/** Collects the digests of a section's rows: 12 MB for a million of them. */
export interface RowDigester {
  readonly count: number
  /** @param sha256 of a row, hex */
  add: (sha256: string) => void
  rows: () => RowDigests[]
}

/**
 * Few enough that the single digests can be freed while they are young. Otherwise those of a million rows became old
 * objects.
 */
const joinedAtOnce = 64

/**
 * Collects the digest of each row of a section.
 *
 * @example
 * const digester = openRowDigester('secrets')
 * digester.add('9f86d081...')
 * digester.rows() // [{ from: 0, hashes: '9f86d081...', section: 'secrets' }]
 */
export function openRowDigester(section: string): RowDigester {
  const full: RowDigests[] = []
  let open = ''
  let recent: string[] = []
  const inOpen = () => open.length / rowDigestCharacters + recent.length
  const last = (): RowDigests[] =>
    inOpen() === 0 ? [] : [{ from: full.length * rowDigestsPerRow, hashes: open + recent.join(''), section }]
  return {
    get count() {
      return full.length * rowDigestsPerRow + inOpen()
    },
    add(sha256) {
      recent.push(sha256.slice(0, rowDigestCharacters))
      if (inOpen() === rowDigestsPerRow) {
        full.push(...last())
        open = ''
        recent = []
      } else if (recent.length === joinedAtOnce) {
        open += recent.join('')
        recent = []
      }
    },
    rows: () => [...full, ...last()],
  }
}

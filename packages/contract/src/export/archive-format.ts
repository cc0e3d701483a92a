// How an archive of an organization is written: one JSON object in which each row is a line, so that it can be written and
// read a line at a time, whatever its size. Nothing here computes a hash: who reads brings that.

export const archiveFormat = 'skerry.archive.v1'

/** The beginnings of the rows' own digests, so that a reader can name the row that was changed. Always the last section. */
export const rowDigestsSection = 'rowDigests'
/** Characters of a row's SHA-256 in hex that are kept of it. */
export const rowDigestCharacters = 12
/** Of so many rows, a row of `rowDigests` holds them. */
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

/** The lines of an archive. `first` says of a section or a row that nothing of its kind came before it in its place. */
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

/** One of `rowDigests`: of the rows of a section from `from` on. */
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

/** Few enough that the single digests are gone before a collector takes them for old objects, as those of a million rows were. */
const joinedAtOnce = 64

/**
 * Sums up the rows of a section, from the digest of each.
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

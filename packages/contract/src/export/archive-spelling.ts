import { archiveFormat, archiveLines } from './archive-format.ts'

/** A larger archive is not read into memory, so it is accepted only as the server wrote it. */
export const respelledBytesMax = 256 * 1024 * 1024

interface Archive {
  format: string
  data: Record<string, unknown[]>
  manifest: { sections: { name: string }[] }
  signature: unknown
}

/**
 * Writes an archive again as the server writes it. A formatter may have changed its spaces, its escapes or the order of its
 * members; the digests and the signature are over the spelling of the server, so `checkArchive` can check the result.
 *
 * @param text the whole file
 * @param canonical gives the RFC 8785 form of a value
 * @returns reads the archive from its beginning, a line at a time; null if the text is not JSON, or has other members
 * @example
 * const respelled = respellArchive(await readFile('acme.skerry', 'utf8'), canonicalJson)
 * if (respelled) await checkArchive(respelled(), { sha256: () => createHash('sha256') })
 */
export function respellArchive(
  text: string,
  canonical: (value: unknown) => string,
): (() => AsyncIterable<Uint8Array>) | null {
  const archive = parseArchive(text)
  return archive && (() => linesOf(archive, canonical))
}

function parseArchive(text: string): Archive | null {
  try {
    const { format, data, manifest, signature, ...more } = JSON.parse(text)
    const isWhole =
      format === archiveFormat &&
      Object.keys(more).length === 0 &&
      Object.values(data).every(Array.isArray) &&
      manifest.sections.every(({ name }: { name: unknown }) => typeof name === 'string') &&
      signature !== undefined
    return isWhole ? { format, data, manifest, signature } : null
  } catch {
    return null
  }
}

async function* linesOf(
  { data, manifest, signature }: Archive,
  canonical: (value: unknown) => string,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  const line = (text: string) => encoder.encode(`${text}\n`)
  // The manifest defines the order. A section that it does not name comes last, so that the check finds it.
  const names = new Set([...manifest.sections.map(({ name }) => name), ...Object.keys(data)])
  yield line(archiveLines.begin)
  let isFirst = true
  for (const name of names) {
    if (!Object.hasOwn(data, name)) continue
    yield line(archiveLines.section(name, isFirst))
    isFirst = false
    for (const [index, row] of data[name]?.entries() ?? []) yield line(archiveLines.row(canonical(row), index === 0))
    yield line(archiveLines.endOfSection)
  }
  yield line(archiveLines.endOfData)
  yield line(archiveLines.manifest(canonical(manifest)))
  yield line(archiveLines.signature(canonical(signature)))
  yield line(archiveLines.end)
}

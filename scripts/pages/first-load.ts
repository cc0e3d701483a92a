import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** The manifest as Vite writes it: chunks by name, with the static imports of each. */
export type Manifest = Record<string, { file: string; imports?: string[] }>

/** The chunks of a first load, and the largest size that their scripts may have. */
export interface FirstLoad {
  maxBytes: number
  /** Chunks that are loaded before anything is shown. */
  entries: string[]
  /** Whether a chunk is a page. One page is loaded together with the entries. */
  isPage?: (name: string) => boolean
}

/** Adds up the compressed scripts of a first load with the largest page. Throws if they are too large. */
export function checkFirstLoad(dist: string, manifest: Manifest, { maxBytes, entries, isPage }: FirstLoad): number {
  const reached = (names: string[]): Set<string> => {
    const seen = new Set<string>()
    const visit = (name: string) => {
      const chunk = manifest[name]
      if (!chunk) throw new Error(`${name}: not in this build`)
      if (seen.has(name)) return
      seen.add(name)
      chunk.imports?.forEach(visit)
    }
    names.forEach(visit)
    return seen
  }
  const pages = isPage ? Object.keys(manifest).filter(isPage) : entries
  const sizes = pages.map((page) => ({ page, bytes: sizeOf(dist, manifest, reached([...entries, page])) }))
  const largest = sizes.reduce((one, other) => (other.bytes > one.bytes ? other : one))
  if (largest.bytes > maxBytes)
    throw new Error(`the first load of ${largest.page} is ${largest.bytes} bytes of script, over ${maxBytes}`)
  return largest.bytes
}

function sizeOf(dist: string, manifest: Manifest, names: Set<string>): number {
  const files = new Set([...names].map((name) => manifest[name]?.file ?? '').filter((file) => file.endsWith('.js')))
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file))).length, 0)
}

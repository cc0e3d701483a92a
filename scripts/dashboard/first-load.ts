import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** As Vite writes it: chunks by name, with what each imports at once. */
export type Manifest = Record<string, { file: string; imports?: string[] }>

export const firstLoadMaxBytes = 250_000

/** Whoever is signed in loads these before seeing anything: the entry, what surrounds every page, and that page. */
const shell = ['index.html', 'app/routes/_app.tsx?tsr-split=component']

/** Adds up the compressed scripts of a first load, with the largest page, and refuses a build that has grown too large. */
export function checkFirstLoad(dist: string, manifest: Manifest): number {
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
  const pages = Object.keys(manifest).filter((name) => name.startsWith('app/routes/') && name.includes('?tsr-split'))
  const sizes = pages.map((page) => ({ page, bytes: sizeOf(dist, manifest, reached([...shell, page])) }))
  const largest = sizes.reduce((one, other) => (other.bytes > one.bytes ? other : one))
  if (largest.bytes > firstLoadMaxBytes)
    throw new Error(`the first load of ${largest.page} is ${largest.bytes} bytes of script, over ${firstLoadMaxBytes}`)
  return largest.bytes
}

function sizeOf(dist: string, manifest: Manifest, names: Set<string>): number {
  const files = new Set([...names].map((name) => manifest[name]?.file ?? '').filter((file) => file.endsWith('.js')))
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file))).length, 0)
}

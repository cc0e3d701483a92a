import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'

/** Hashes names and contents of the sources of pages. The times of files and the path of the checkout do not matter. */
export function hashSources(root: string, sources: readonly string[]): string {
  const hash = createHash('sha256')
  for (const source of sources)
    for (const path of filesOf(root, source)) {
      const bytes = readFileSync(join(root, path))
      hash.update(`${path.split(sep).join('/')}\n${bytes.length}\n`).update(bytes)
    }
  return hash.digest('base64url')
}

function filesOf(root: string, source: string): string[] {
  if (/\.[a-z]+$/.test(source)) return [source]
  const entries = readdirSync(join(root, source), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort()
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Release } from './releases.ts'

/** The README of a package. Links to files that are not in the package become their text. */
export function readmeOf(root: string, { name, readme }: Release): string {
  const text = readme ?? readFileSync(join(root, 'packages', name, 'README.md'), 'utf8')
  return text.replace(/\[([^\]]+)\]\(\.\.?\/[^)]*\)/g, '$1')
}

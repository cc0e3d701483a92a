import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { routes } from '../packages/server/src/app.ts'
import { documentsOf } from '../packages/server/src/features/docs/documents.ts'

/** Name of each file of the reference -> its text, as a server sends it. */
export function referenceFiles(): Record<string, string> {
  const documents = Object.entries(documentsOf(routes))
  return Object.fromEntries(
    documents.map(([path, { make }]) => [path === '/docs' ? 'index.html' : path.slice(1), make()]),
  )
}

/** Writes the reference of the API for readers without a server -> the path of its page. */
export function buildReference(root: string): string {
  const folder = join(root, 'dist/reference')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(referenceFiles())) writeFileSync(join(folder, name), text)
  return join(folder, 'index.html')
}

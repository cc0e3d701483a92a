import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'

/**
 * A new PostgreSQL data directory as one file of 1 MB, made by `npm run database-template`. PGlite would run initdb
 * instead, which needs 450 MB of memory. The file fits the data format of only one release of PGlite.
 */
export const templateFile = fileURLToPath(new URL('./embedded-template.br', import.meta.url))

/** The first line of the template. The bytes of the files follow it, in this order and without separators. */
export interface TemplateIndex {
  /** The release of PGlite that made the directory. */
  pglite: string
  /** Paths below the data directory, each after its parent. Empty directories count: PostgreSQL needs them. */
  directories: string[]
  files: { path: string; size: number }[]
}

/** Reads the whole template, which takes 17 MB of memory. */
export function readTemplate(file = templateFile): { index: TemplateIndex; bytes: Buffer } {
  const text = brotliDecompressSync(readFileSync(file))
  const end = text.indexOf('\n')
  return { index: JSON.parse(text.toString('utf8', 0, end)), bytes: text.subarray(end + 1) }
}

/** Writes the files of the template into an empty directory. Only the owner can read them. */
export function unpackTemplate(directory: string): void {
  const { index, bytes } = readTemplate()
  for (const path of index.directories) mkdirSync(join(directory, path), { mode: 0o700 })
  let at = 0
  for (const { path, size } of index.files) {
    writeFileSync(join(directory, path), bytes.subarray(at, at + size), { mode: 0o600 })
    at += size
  }
  if (at !== bytes.length) throw new Error(`${templateFile} is damaged: check out the repository again`)
}

import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fsyncParent, fsyncTree } from './durable-fs.ts'
import { unpackTemplate } from './embedded-template.ts'

/**
 * Creates a new PostgreSQL data directory, complete or not at all: it is written under another name, synced and then
 * renamed. The caller must have the owner lock of the parent directory.
 */
export function createPgDir(pgDir: string, log?: (message: string) => void): void {
  if (existsSync(pgDir)) return
  log?.('Creating the embedded database')
  const prefix = `${basename(pgDir)}.new-`
  removeDrafts(dirname(pgDir), prefix)
  const draft = join(dirname(pgDir), prefix + randomUUID())
  try {
    mkdirSync(draft, { mode: 0o700 })
    unpackTemplate(draft)
    fsyncTree(draft)
    renameSync(draft, pgDir)
    fsyncParent(pgDir)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

/** Removes the drafts of earlier attempts whose process was killed. */
function removeDrafts(directory: string, prefix: string): void {
  for (const name of readdirSync(directory))
    if (name.startsWith(prefix)) rmSync(join(directory, name), { recursive: true, force: true })
}

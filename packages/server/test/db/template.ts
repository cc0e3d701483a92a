import { cpSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded, PG_DIR } from '../../src/db/embedded.ts'
import { scratchRoot } from '../scratch.ts'

export interface Template {
  /** Makes a data directory with a copy of the template's database. Opening it takes well under a second. */
  copy(): Promise<string>
  remove(): Promise<void>
}

/** Makes an embedded database once, lets `prepare` fill it, and then makes copies of it. */
export async function makeTemplate(prepare: (db: Database) => Promise<void> = async () => {}): Promise<Template> {
  const root = await mkdtemp(join(scratchRoot(), 'skerry-template-'))
  const template = join(root, 'template')
  const db = await openEmbedded(template)
  try {
    await prepare(db)
  } finally {
    await db.close()
  }
  let copies = 0
  return {
    async copy() {
      const dir = join(root, `copy-${++copies}`)
      mkdirSync(dir)
      cpSync(join(template, PG_DIR), join(dir, PG_DIR), { recursive: true })
      return dir
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

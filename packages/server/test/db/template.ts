import { constants } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded, PG_DIR } from '../../src/db/embedded.ts'

export interface Template {
  /** Makes a data directory with a copy of the template's database. Opening it takes well under a second. */
  copy(): Promise<string>
  remove(): Promise<void>
}

/** Makes an embedded database once, lets `prepare` fill it, and then makes copies of it. */
export async function makeTemplate(prepare: (db: Database) => Promise<void> = async () => {}): Promise<Template> {
  const root = await mkdtemp(join(tmpdir(), 'skerry-template-'))
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
      await copyDataDir(template, dir)
      return dir
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

/** Copies a closed database. On file systems that can share blocks this costs almost nothing. */
async function copyDataDir(from: string, to: string): Promise<void> {
  await cp(join(from, PG_DIR), join(to, PG_DIR), { recursive: true, mode: constants.COPYFILE_FICLONE })
}

import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Failure } from '../failure.ts'
import { writeWhole } from '../files.ts'
import { note, writeJson } from '../output.ts'
import { readSettings, type Wished, wishedSettings } from './settings.ts'

interface Options extends Wished {
  file: string
  json?: boolean
}

const readableByAll = 0o644

/** Writes what `proxy run` reads. A file that is there stays. */
export async function init(flags: Options): Promise<void> {
  const path = resolve(flags.file)
  const settings = wishedSettings(flags)
  readSettings(settings, flags.file, dirname(path))
  if (existsSync(path)) throw new Failure('conflict', `${flags.file} is there already`, 'name another with --file')
  writeWhole(path, settings, readableByAll)
  if (flags.json) writeJson({ file: path })
  note(`wrote ${flags.file}; run \`skerry proxy run -- <program>\` with SKERRY_TOKEN set`)
}

import { dirname, resolve } from 'node:path'
import { checkWritable, type Overwriting, readableByAll, writeNamed } from '../files.ts'
import { note, writeJson } from '../output.ts'
import { readSettings, type Wished, wishedSettings } from './settings.ts'

interface Options extends Wished, Overwriting {
  file: string
  json?: boolean
}

/** Writes the settings that `proxy run` reads. */
export async function init(flags: Options): Promise<void> {
  checkWritable(flags.file, flags)
  const path = resolve(flags.file)
  const settings = wishedSettings(flags)
  readSettings(settings, flags.file, dirname(path))
  writeNamed(flags.file, settings, { force: flags.force, mode: readableByAll })
  if (flags.json) writeJson({ file: path })
  note(`wrote ${flags.file}; run \`skerry proxy run -- <program>\` with SKERRY_TOKEN set`)
}

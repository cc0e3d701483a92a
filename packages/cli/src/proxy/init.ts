import { dirname, resolve } from 'node:path'
import { checkWritable, type Overwriting, readableByAll, writeNamed } from '../files.ts'
import { note, type Output } from '../output.ts'
import { readSettings, type Wished, wishedSettings } from './settings.ts'

interface Options extends Wished, Overwriting {
  file: string
}

/** Writes the settings that `proxy run` reads. */
export async function init(flags: Options): Promise<Output> {
  checkWritable(flags.file, flags)
  const path = resolve(flags.file)
  const settings = wishedSettings(flags)
  readSettings(settings, flags.file, dirname(path))
  writeNamed(flags.file, settings, { force: flags.force, mode: readableByAll })
  return {
    json: { file: path },
    after: () => note(`wrote ${flags.file}; run \`skerry proxy run -- <program>\` with SKERRY_TOKEN set`),
  }
}

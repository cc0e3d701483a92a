import { dirname, resolve } from 'node:path'
import { checkWritable, type Overwriting, readableByAll, writeNamed } from '../files.ts'
import { note, type Output } from '../output.ts'
import { type Wished, wishedSettings } from './settings.ts'

interface Options extends Wished, Overwriting {
  file: string
}

/** Writes the settings that `proxy run` reads. */
export async function init(flags: Options): Promise<Output> {
  checkWritable(flags.file, flags)
  const path = resolve(flags.file)
  const settings = await wishedSettings(flags, { file: flags.file, folder: dirname(path) })
  writeNamed(flags.file, settings, { force: flags.force, mode: readableByAll })
  return {
    json: { file: path },
    after: () => {
      note(`wrote ${flags.file}`)
      for (const line of nextSteps(flags)) note(line)
    },
  }
}

function nextSteps({ agent, file }: Options): string[] {
  const settings = file === 'skerry-proxy.toml' ? '' : ` -c ${file}`
  if (agent === undefined) return [`next: \`skerry proxy run${settings} -- <program>\`, with SKERRY_TOKEN set`]
  return [
    'every request needs a task, which you dispatch for each run:',
    `  \`skerry agent dispatch ${agent} --ttl 15m\` prints the token of a task`,
    `  \`skerry proxy run${settings} --task -- <program>\` runs the program, with the token in SKERRY_TASK and SKERRY_TOKEN set`,
  ]
}

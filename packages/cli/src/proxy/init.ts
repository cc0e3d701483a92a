import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Failure, usage } from '../failure.ts'
import { writeWhole } from '../files.ts'
import { note, writeJson } from '../output.ts'
import { agentSettings, presetSettings, presetsOf, readSettings } from './settings.ts'

interface Options {
  preset?: string[]
  agent?: string
  signer?: string[]
  file: string
  json?: boolean
}

const readableByAll = 0o644

/** Writes what `proxy run` reads. A file that is there stays. */
export async function init(flags: Options): Promise<void> {
  const path = resolve(flags.file)
  const settings = settingsOf(flags)
  readSettings(settings, flags.file, dirname(path))
  if (existsSync(path)) throw new Failure('conflict', `${flags.file} is there already`, 'name another with --file')
  writeWhole(path, settings, readableByAll)
  if (flags.json) writeJson({ file: path })
  note(`wrote ${flags.file}; run \`skerry proxy run -- <program>\` with SKERRY_TOKEN set`)
}

function settingsOf({ preset = [], agent, signer = [] }: Options): string {
  const names = presetsOf(preset)
  if (agent !== undefined) {
    if (signer.length === 0)
      throw usage('--agent needs --signer', 'its thumbprint is printed by `skerry agent policy publish`')
    return agentSettings(agent, signer, names)
  }
  if (signer.length > 0) throw usage('--signer goes with --agent')
  if (names.length === 0) throw usage('nothing says what is to be allowed', 'use --preset or --agent')
  return presetSettings(names)
}

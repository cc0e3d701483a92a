import type { Command } from 'commander'
import { registerVerify } from '../export/command.ts'
import { usage } from '../failure.ts'
import { common } from '../options.ts'

/** In other tools, `export .env` writes secrets to that file. An archive of the organization must not replace the file. */
export function register(command: Command): void {
  common(command).argument('[path]').allowUnknownOption().allowExcessArguments().action(refuse)
  registerVerify(command)
}

function refuse(): void {
  throw usage(
    '`skerry export` writes nothing',
    'use `skerry secrets export` for the secrets of an environment, or `skerry org export` for an archive of the organization',
  )
}

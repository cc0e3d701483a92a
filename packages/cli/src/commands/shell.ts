import { basename } from 'node:path'
import type { Command } from 'commander'
import { common, explained } from '../options.ts'
import { note } from '../output.ts'
import { endAs, startChild } from '../run/child.ts'
import { exec } from '../run/exec.ts'
import { checkLaunch, type LaunchOptions, launching } from '../run/options.ts'
import { prepare } from '../run/prepare.ts'
import { findProgram } from '../run/program.ts'
import { count } from '../units.ts'

export function register(command: Command): void {
  explained(
    launching(common(command)),
    'Starts the shell in SHELL, or sh. The start-up files of the shell may change variables.',
  ).action(shell)
}

async function shell(flags: LaunchOptions): Promise<void> {
  checkLaunch(flags)
  const { launch, resolved } = await prepare(flags)
  const { appSlug, envSlug } = resolved.scope
  const file = findProgram(launch.env.SHELL || 'sh', launch.env.PATH)
  note(`a shell with ${count(launch.values.size, 'value')} of ${appSlug}/${envSlug}; leave it with \`exit\``)
  exec(file, [basename(file)], launch.env)
  process.exitCode = endAs(await startChild(file, [basename(file)], launch.env).done)
}

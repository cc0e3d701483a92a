import { Command, CommanderError } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { databaseOf, type Host } from './database.ts'
import { commands } from './table.ts'

/**
 * Runs one command line of an operator, without the name of the program -> exit code: 0 done, 1 refused, 2 invalid
 * command line.
 */
export async function main(
  args: string[],
  environment: Record<string, string | undefined>,
  host: Host = process,
): Promise<number> {
  const wanted = args.find((arg) => !arg.startsWith('-'))
  const program = new Command('skerry-server')
    .description('Starts and looks after a Skerry server. Settings are read from the environment.')
    .usage('<command> [options]')
    .version(manifest.version, '-v, --version', 'print the version')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => host.stdout.write(text), writeErr: (text) => host.stderr.write(text) })
  for (const { name, summary, load } of commands) {
    const command = program.command(name).description(summary).helpCommand(false)
    if (wanted === name) (await load()).register(command, databaseOf(environment, host))
  }
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has already printed the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    host.stderr.write(`skerry-server: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

import { Command, CommanderError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { register } from './commands/register.ts'
import { rotateKey } from './commands/rotate-key.ts'
import { run } from './commands/run.ts'
import { status } from './commands/status.ts'

/** Runs one command line, without the program's name -> exit code: 0 done, 1 failed, 2 wrong command line. */
export async function main(args: string[]): Promise<number> {
  try {
    await program().parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`skerry-executor: ${(error as Error).message.split('\n', 1)[0]}\n`)
    return 1
  }
}

function program(): Command {
  const program = new Command('skerry-executor')
    .description('Holds the keys of a credential vault, and uses what people have connected')
    .version(manifest.version)
    .exitOverride()
    .addHelpText('after', environment)
  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('--config <file>', 'its settings', 'vault.config.ts')
      .option('--state <folder>', 'where its keys are kept', process.env.SKERRY_EXECUTOR_STATE ?? '.skerry/executor')
  command('register', 'Make a key on this machine, and register it with the code of an admin')
    .requiredOption('--server <url>', 'address of the Skerry server')
    .option('--code <code>', 'registration code; read from standard input unless given')
    .action(register)
  command('serve', 'Answer the Connect page and the backend').action(run)
  command('status', 'What the server knows of this executor').action(status)
  command('rotate-key', 'Make a new key, which is the current one from then on').action(rotateKey)
  return program
}

const environment = `
Environment:
  SKERRY_EXECUTOR_TOKEN   what the backend has to send; for \`serve\`
  SKERRY_EXECUTOR_STATE   where the keys are kept, unless --state says
`

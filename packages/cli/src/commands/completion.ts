import type { Command, Option } from 'commander'
import { completionFor, shells, type Words } from '../completion.ts'
import { usage } from '../failure.ts'
import { writeData } from '../output.ts'

export function register(command: Command): void {
  command
    .argument('<shell>', shells.join(', '))
    .addHelpText(
      'after',
      `
  bash: source <(skerry completion bash)
  zsh:  source <(skerry completion zsh)
  fish: skerry completion fish | source`,
    )
    .action(completion)
}

/** The program has loaded every command in full for this one. */
function completion(shell: string, _: object, command: Command): void {
  const known = shells.find((one) => one === shell)
  if (known === undefined) throw usage(`'${shell}' is not a shell that can be completed`, `known: ${shells.join(', ')}`)
  writeData(completionFor(known, wordsOf(command.parent!)))
}

/** What can follow each command: its subcommands and its long options. */
function wordsOf(program: Command): Words {
  const words: Words = new Map()
  const add = (path: string, command: Command) => {
    words.set(path, {
      subcommands: command.commands.map((one) => ({ name: one.name(), summary: one.description() })),
      options: command.options.map((one: Option) => one.long).filter((long) => long != null),
    })
    for (const one of command.commands) add(path === '' ? one.name() : `${path} ${one.name()}`, one)
  }
  add('', program)
  return words
}

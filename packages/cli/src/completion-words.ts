import type { Command, Option } from 'commander'
import type { Kind, Words } from './completion.ts'

/** Collects the words that can follow each command: its subcommands and its long options. */
export function wordsOf(program: Command): Words {
  const words: Words = new Map()
  const add = (path: string, command: Command) => {
    words.set(path, {
      subcommands: visible(command).map((one) => ({ name: one.name(), summary: one.summary() || one.description() })),
      options: command.options
        .filter(({ hidden }) => !hidden)
        .map((one: Option) => one.long)
        .filter((long) => long != null),
      choices: Object.fromEntries(
        command.options.flatMap(({ long, argChoices }) => (long && argChoices ? [[long, argChoices]] : [])),
      ),
      takes: kindOfNames(path, command.registeredArguments[0]?.name() ?? ''),
      values: command.registeredArguments[0]?.argChoices ?? [],
    })
    for (const one of visible(command)) add(path === '' ? one.name() : `${path} ${one.name()}`, one)
  }
  add('', program)
  return words
}

const visible = (command: Command) => command.createHelp().visibleCommands(command)

function kindOfNames(path: string, argument: string): Kind | undefined {
  if (path.startsWith('secrets ') && /^NAMES?$/.test(argument)) return 'secret'
  return path.startsWith('profile ') && argument === 'name' ? 'profile' : undefined
}

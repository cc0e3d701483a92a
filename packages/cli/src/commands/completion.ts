import type { Command, Option } from 'commander'
import { completionFor, type Kind, KnownWords, shells, type Words } from '../completion.ts'
import { usage } from '../failure.ts'
import { writeData, writeLine } from '../output.ts'

export function register(command: Command): void {
  command
    .argument('<shell>', shells.join(', '))
    .argument('[words...]', 'for the scripts, which ask for names')
    .addHelpText(
      'after',
      `
  bash: source <(skerry completion bash)
  zsh:  source <(skerry completion zsh)
  fish: skerry completion fish | source`,
    )
    .action(completion)
}

/**
 * Every command is loaded in full for this one. A completion script passes the kind of values that it needs in place of
 * a shell.
 */
async function completion(shell: string, typed: string[], _: object, command: Command): Promise<void> {
  const kind = Object.values(KnownWords).find((one) => one === shell)
  if (kind !== undefined) {
    const { valuesOf } = await import('../completion-values.ts')
    for (const value of await valuesOf(kind, typed)) writeLine(value)
    return
  }
  const known = shells.find((one) => one === shell)
  if (known === undefined) throw usage(`completion for '${shell}' is not available`, `choose ${shells.join(', ')}`)
  writeData(completionFor(known, wordsOf(command.parent!)))
}

const visible = (command: Command) => command.createHelp().visibleCommands(command)

function kindOfNames(path: string, argument: string): Kind | undefined {
  if (path.startsWith('secrets ') && /^NAMES?$/.test(argument)) return 'secret'
  return path.startsWith('profile ') && argument === 'name' ? 'profile' : undefined
}

/** Collects the words that can follow each command: its subcommands and its long options. */
function wordsOf(program: Command): Words {
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

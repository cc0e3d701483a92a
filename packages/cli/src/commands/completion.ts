import type { Command } from 'commander'
import { completionFor, KnownWords, shells } from '../completion.ts'
import { wordsOf } from '../completion-words.ts'
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

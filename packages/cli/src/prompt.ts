import { Failure, usage } from './failure.ts'
import { isTerminal, printable } from './output.ts'

// The prompt library is loaded at the first question: most commands never ask one. Questions go to stderr, because
// stdout is for data.

/** Whether someone is there to answer. */
export const canAsk = () => isTerminal.stdin() && isTerminal.stderr()

/** Asks for a value that does not show while it is typed. */
export async function askHidden(question: string): Promise<string> {
  const { password, isCancel } = await import('@clack/prompts')
  const answer = await password({ message: question, output: process.stderr })
  if (isCancel(answer)) throw cancelled()
  return answer ?? ''
}

export async function ask(question: string): Promise<boolean> {
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({ message: printable(question), initialValue: false, output: process.stderr })
  if (isCancel(answer)) throw cancelled()
  return answer
}

/** Lets a destructive command go on: `--yes`, or a person who says so. A script that says neither is refused. */
export async function confirmOrRefuse(what: string, options: { yes?: boolean }): Promise<void> {
  if (options.yes) return
  if (!canAsk()) throw usage(`${what} needs a confirmation`, 'add --yes')
  if (!(await ask(`${what}?`))) throw new Failure('failure', 'nothing was changed')
}

const cancelled = () => new Failure('interrupted', 'cancelled; nothing was changed')

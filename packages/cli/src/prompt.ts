import { openSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import { Failure, usage } from './failure.ts'
import { isTerminal, printable } from './output.ts'

// The prompt library is loaded at the first question: most commands never ask one. Questions go to stderr, because
// stdout is for data.

/** Whether a person can answer a question. */
export const canAsk = () => isTerminal.stdin() && isTerminal.stderr()

/** Asks for a value that does not show while it is typed. */
export async function askHidden(question: string): Promise<string> {
  const { password, isCancel } = await import('@clack/prompts')
  let lines = 1
  let tabs = false
  // The prompt ends at the first line break and drops Tabs, so it would cut pasted text without a warning.
  const look = (chunk: Buffer) => {
    const text = chunk.toString('utf8')
    lines += text.replace(/[\r\n]+$/, '').split(/\r\n?|\n/).length - 1
    tabs ||= text.includes('\t')
  }
  const answer = await onTerminal((how) => {
    how.input.on('data', look)
    return password({ message: question, ...how })
  })
  if (isCancel(answer)) throw cancelled()
  if (lines > 1) throw usage('more than one line was pasted, and nothing was kept', 'pipe it in, or use --file')
  if (tabs) throw usage('a Tab cannot be typed here, and nothing was kept', 'pipe it in, or use --file')
  return answer ?? ''
}

/** Asks for a line of text, which is visible while it is typed. `usual` stands there already, and can be changed. */
export async function askText(question: string, usual = ''): Promise<string> {
  const { text, isCancel } = await import('@clack/prompts')
  const answer = await onTerminal((how) => text({ message: printable(question), initialValue: usual, ...how }))
  if (isCancel(answer)) throw cancelled()
  return answer ?? ''
}

export async function ask(question: string, usual = false): Promise<boolean> {
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await onTerminal((how) => confirm({ message: printable(question), initialValue: usual, ...how }))
  if (isCancel(answer)) throw cancelled()
  return answer
}

/** Asks for one of several options. Returns null if `signal` or the person ends the question. */
export async function choose<T extends string>(
  question: string,
  options: readonly { value: T; label: string }[],
  signal: AbortSignal,
): Promise<T | null> {
  const { select, isCancel } = await import('@clack/prompts')
  const answer = await onTerminal((how) => {
    const both = AbortSignal.any([how.signal, signal])
    return select<string>({ message: printable(question), options: [...options], ...how, signal: both })
  })
  return isCancel(answer) ? null : (answer as T)
}

/** Asks for one of several choices. The cursor starts at `initial`. */
export async function askChoice(
  question: string,
  choices: readonly { value: string; hint?: string }[],
  initial: string,
): Promise<string> {
  const { select, isCancel } = await import('@clack/prompts')
  const options = choices.map(({ value, hint }) => ({
    value,
    label: printable(value),
    ...(hint === undefined ? {} : { hint: printable(hint) }),
  }))
  const answer = await onTerminal((how) =>
    select({ message: printable(question), options, initialValue: initial, maxItems: 12, ...how }),
  )
  if (isCancel(answer)) throw cancelled()
  return answer
}

type Asked = { input: ReadStream; output: NodeJS.WriteStream; signal: AbortSignal }

/** Ctrl-C cancels the question. So does the end of input (Ctrl-D), because no answer can follow it. */
async function onTerminal<T>(question: (how: Asked) => Promise<T>): Promise<T> {
  // A terminal that does not know its width reports 0, which would put each character on its own line.
  if (process.stderr.columns === 0) process.stderr.columns = 80
  const ended = new AbortController()
  const end = () => ended.abort()
  process.once('beforeExit', end)
  const input = openTerminal()
  input.once('pause', () => setImmediate(end))
  try {
    return await question({ input, output: process.stderr, signal: ended.signal })
  } finally {
    process.off('beforeExit', end)
    if (input !== process.stdin) input.destroy()
  }
}

/**
 * Opens the terminal on stdin a second time. Reading makes a descriptor non-blocking, and the program that `run` may
 * start after the question inherits descriptor 0, which must stay blocking. So the question is read from a second
 * descriptor.
 */
function openTerminal(): ReadStream {
  return process.platform === 'win32' ? process.stdin : new ReadStream(openSync('/dev/stdin', 'r'))
}

/**
 * Lets a destructive command continue: with `--yes`, or when a person agrees. A script that does neither is refused.
 *
 * @param effect the rest of a sentence that begins with "This": `deletes application shop`.
 * @param next the advice for a script, if it can do something else than add `--yes`.
 */
export async function confirmOrRefuse(
  effect: string,
  options: { yes?: boolean },
  next = 'Run again with `--yes` to do it.',
): Promise<void> {
  if (options.yes) return
  if (!canAsk()) throw usage(`This ${effect}.`, next)
  if (!(await ask(`This ${effect}. Continue?`))) throw new Failure('failure', 'nothing was changed')
}

const cancelled = () => new Failure('interrupted', 'cancelled; nothing was changed')

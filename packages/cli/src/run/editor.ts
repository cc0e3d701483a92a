import { basename } from 'node:path'
import { Failure, usage } from '../failure.ts'
import { startChild } from './child.ts'
import { inheritedEnvironment } from './environment.ts'
import { findProgram } from './program.ts'

/** A program with its arguments, to which the path of a file is added. */
export interface Editor {
  file: string
  argv: string[]
}

/** The editors that are tried without VISUAL and EDITOR. `editor` is the user's choice on Debian and Ubuntu. */
const fallbacks = ['editor', 'nano', 'vi']

/** Finds the editor that VISUAL or EDITOR names, with its arguments. No shell reads the variable. */
export function findEditor({ VISUAL, EDITOR, PATH }: NodeJS.ProcessEnv): Editor {
  const variable = VISUAL?.trim() ? 'VISUAL' : 'EDITOR'
  const text = (VISUAL?.trim() || EDITOR?.trim()) ?? ''
  if (text === '') return fallback(PATH)
  const argv = splitWords(text, variable)
  checkWaits(argv, variable)
  try {
    return { file: findProgram(argv[0]!, PATH), argv }
  } catch (error) {
    throw usage(
      `${(error as Error).message}, which ${variable} names`,
      `set ${variable} to an editor that is installed`,
    )
  }
}

function fallback(path: string | undefined): Editor {
  for (const name of fallbacks) {
    try {
      return { file: findProgram(name, path), argv: [name] }
    } catch {}
  }
  throw usage('no editor was found', 'set VISUAL or EDITOR, for example EDITOR=nano')
}

/** Splits a command line at blanks. Quotes and backslashes keep a blank, as in a shell. */
function splitWords(text: string, variable: string): string[] {
  const word = /((?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\\[\s\S]|[^\s"'\\])+)(?:\s+|$)/y
  const words: string[] = []
  while (word.lastIndex < text.length) {
    const match = word.exec(text)
    if (!match) throw usage(`a quote in ${variable} is opened and not closed`, `set ${variable} again`)
    words.push(match[1]!.replace(/"((?:\\[\s\S]|[^"\\])*)"|'([^']*)'|\\([\s\S])/g, unquoted))
  }
  return words
}

const unquoted = (_: string, double?: string, single?: string, escaped?: string) =>
  double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? escaped ?? ''

/** Editors that open a window and end at once, and the option that makes them wait. */
const waiting: Readonly<Record<string, string>> = {
  code: '--wait',
  'code-insiders': '--wait',
  codium: '--wait',
  cursor: '--wait',
  windsurf: '--wait',
  zed: '--wait',
  subl: '--wait',
  mate: '--wait',
  gvim: '--nofork',
  mvim: '--nofork',
}

function checkWaits([file = '', ...args]: string[], variable: string): void {
  const name = basename(file)
  const option = Object.hasOwn(waiting, name) ? waiting[name] : undefined
  if (option === undefined || args.some((arg) => ['-w', '--wait', '-f', '--nofork'].includes(arg))) return
  throw usage(`${name} ends before you have edited`, `set ${variable} to '${name} ${option}'`)
}

/** Opens a file in the editor, and waits until the editor ends. It refuses an editor that ends with an error. */
export async function runEditor({ file, argv }: Editor, path: string): Promise<void> {
  const child = startChild(file, [...argv, path], inheritedEnvironment(process.env))
  let stopped = false
  // Unlike Ctrl-C, which editors use as a key, these signals end the editor even if it ignores them.
  const stop = () => {
    stopped = true
    void child.stop()
  }
  for (const signal of stopping) process.on(signal, stop)
  try {
    const { code, signal } = await child.done
    if (stopped || signal !== null)
      throw new Failure('interrupted', 'the editor was ended by a signal; nothing was changed')
    if (code !== 0) throw new Failure('failure', `the editor ended with code ${code}; nothing was changed`)
  } finally {
    for (const one of stopping) process.off(one, stop)
  }
}

const stopping = ['SIGTERM', 'SIGHUP'] as const

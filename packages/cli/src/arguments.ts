import type { Command } from 'commander'
import { commandsOfNoun } from './grammar.ts'

/** Options that every command has, and whether a value follows. */
const shared: Readonly<Record<string, boolean>> = {
  '--json': false,
  '--debug': false,
  '--url': true,
  '--org': true,
  '--profile': true,
}

interface Split {
  /** Shared options that were typed before the command's last word. */
  leading: string[]
  rest: string[]
}

/** The commands that a command line names, and what is left of it. */
export interface Located extends Split {
  path: Command[]
}

/** Takes the shared options from before the command's name. `skerry version` becomes an option. */
export function normalize(args: string[]): Split {
  const { leading, rest } = takeShared(args)
  const [word = ''] = rest
  return ['version', '-v', '-V'].includes(word) ? { leading: [], rest: ['--version'] } : { leading, rest }
}

/** Takes the shared options from the front. */
function takeShared(args: string[]): Split {
  const leading: string[] = []
  let rest = args
  for (;;) {
    const [first = '', second] = rest
    const takesValue = shared[first]
    const length = takesValue === undefined ? (isAssigned(first) ? 1 : 0) : takesValue && second !== undefined ? 2 : 1
    if (length === 0) return { leading, rest }
    leading.push(...rest.slice(0, length))
    rest = rest.slice(length)
  }
}

const isAssigned = (text: string) => shared[text.slice(0, text.indexOf('='))] === true

/**
 * Follows the words of a command line down to the command that they name, whatever spelling was typed. Shared options
 * may stand between the words. A noun alone names the command that lists.
 */
export function locate(program: Command, args: string[]): Located {
  const path: Command[] = []
  const leading: string[] = []
  let rest = args
  for (;;) {
    const ahead = takeShared(rest)
    const below = commandNamed(path.at(-1) ?? program, ahead.rest[0])
    if (!below) break
    path.push(below)
    leading.push(...ahead.leading)
    rest = ahead.rest.slice(1)
  }
  const noun = path.at(-1)
  const listing =
    noun && isAlone(noun, rest) ? commandsOfNoun.map((name) => commandNamed(noun, name)).find(Boolean) : undefined
  return { path: listing ? [...path, listing] : path, leading, rest }
}

const commandNamed = (command: Command, word: string | undefined) =>
  command.commands.find((one) => one.name() === word || one.aliases().includes(word ?? ''))

/** A noun with arguments of its own, such as `grant`, is a command itself. */
const isAlone = (noun: Command, [next]: string[]) =>
  noun.commands.length > 0 &&
  noun.registeredArguments.length === 0 &&
  (next === undefined || (next.startsWith('-') && next !== '--help' && next !== '-h'))

import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.ts'

/** The folders that a shell searches if PATH is not set. */
const defaultPath = '/usr/local/bin:/usr/bin:/bin'

/** Finds a program as a shell would, along the PATH that it will run with. */
export function findProgram(command: string, path = defaultPath): string {
  if (command === '') throw new Failure('commandNotFound', 'the name of the program is empty')
  const candidates = command.includes('/') ? [command] : path.split(':').map((folder) => join(folder || '.', command))
  let seen: string | undefined
  for (const file of candidates) {
    const state = stateOf(file)
    if (state === 'executable') return file
    if (state === 'there') seen ??= file
  }
  if (seen === undefined) throw new Failure('commandNotFound', `${command}: command not found`)
  throw new Failure('notExecutable', `${seen} cannot be executed`, 'check its mode')
}

function stateOf(file: string): 'absent' | 'there' | 'executable' {
  try {
    if (!statSync(file).isFile()) return 'there'
    accessSync(file, constants.X_OK)
    return 'executable'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'there' : 'absent'
  }
}

const headBytes = 4096
const scriptsDeep = 4

/**
 * Whether the system is sure to execute a file: a binary for this machine whose loader exists, or a script whose
 * interpreter is such a file. It is checked before `exec`, because a failure could not be reported after it.
 */
export function surelyExecutes(file: string, depth = 0): boolean {
  const head = headOf(file)
  if (head === undefined || depth > scriptsDeep) return false
  if (head.startsWith('#!')) {
    const interpreter = /^#![ \t]*(\/[^ \t\r\n]+)[ \t\n]/.exec(head)?.[1]
    return interpreter !== undefined && stateOf(interpreter) === 'executable' && surelyExecutes(interpreter, depth + 1)
  }
  const own = headOf(process.execPath)
  if (own === undefined || kindOf(head) !== kindOf(own)) return false
  const loader = /(?:^|\0)(\/[\w./-]*\/ld-[\w.-]+)\0/.exec(head)?.[1]
  return loader === undefined || stateOf(loader) === 'executable'
}

/** The magic number, word size and byte order, and for ELF the machine. Two binaries of one system have the same. */
const kindOf = (head: string) => (head.startsWith('\x7fELF') ? head.slice(0, 6) + head.slice(18, 20) : head.slice(0, 8))

function headOf(file: string): string | undefined {
  try {
    const descriptor = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(headBytes)
      return bytes.toString('latin1', 0, readSync(descriptor, bytes))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}

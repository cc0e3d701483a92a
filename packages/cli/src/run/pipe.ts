import { spawnSync } from 'node:child_process'
import { closeSync, constants, fstatSync, lstatSync, openSync, renameSync, rmSync, type Stats } from 'node:fs'
import { Socket } from 'node:net'
import { Failure, toFailure } from '../failure.ts'
import { cannotWrite } from '../files.ts'
import { warn } from '../output.ts'

// A named pipe gives a text to programs that open it like a file. The text goes from memory to memory, and reaches no
// disk. Each reader gets a pipe of its own: when one opens the pipe, the next pipe is renamed over its path, or the path
// is removed. Two readers of one pipe would each get a part of the text.

interface PipeMount {
  path: string
  /** The path as the user wrote it, for messages. */
  named: string
  /** The path on which the pipe for the next reader is prepared; not used for a single read. */
  spare: string
  text: string
  /** How often the text can be read. */
  reads: number
}

/** Creates a named pipe that only its owner can open. Node has no function for that, so the system's `mkfifo` does it. */
export function makePipe(path: string, named: string): void {
  const env = { PATH: process.env.PATH || '/usr/bin:/bin', LC_ALL: 'C' }
  const { status, stderr, error } = spawnSync('mkfifo', ['-m', '600', path], { encoding: 'utf8', env })
  if (status === 0) return
  const instead = 'use --mount-file'
  if (error) throw new Failure('failure', `cannot mount ${named}: mkfifo cannot be executed`, instead)
  const reason = stderr.trim().split(': ').at(-1) ?? ''
  if (reason === 'File exists') throw mountExists(named)
  const code = codes[reason]
  if (code !== undefined) throw cannotWrite(named, { code })
  throw new Failure('failure', `cannot mount ${named}: its folder cannot hold a named pipe (${reason})`, instead)
}

export const mountExists = (named: string) =>
  new Failure('failure', `cannot mount ${named}: it exists`, 'remove it, or name another path')

const codes: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'Not a directory': 'ENOTDIR',
  'Permission denied': 'EACCES',
  'Read-only file system': 'EROFS',
  'No space left on device': 'ENOSPC',
}

/** How often the pipe is tried: often while a program starts, and seldom after its first second. */
const firstTries = 100
const [firstPauseMs, laterPauseMs] = [10, 50]

/**
 * Gives the text to the readers of an existing pipe. Returns a function that stops this and removes the pipe.
 *
 * Opening a pipe for writing blocks until a reader comes, and a blocked open cannot be cancelled. So the pipe is opened
 * without blocking, again and again.
 */
export function servePipe({ path, named, spare, text, reads }: PipeMount): () => void {
  const readers = new Set<Socket>()
  let left = reads
  let tries = 0
  let timer: NodeJS.Timeout | undefined
  let own = identityOf(path)
  if (left > 1) makePipe(spare, named)

  const tryReader = () => {
    const opened = openForReader(path, own)
    if (opened === 'replaced') return warn(`${named} was replaced, so nobody gets the values through it`)
    if (opened === 'removed') return
    if (opened === 'waiting') {
      timer = setTimeout(tryReader, tries++ < firstTries ? firstPauseMs : laterPauseMs)
      return
    }
    left -= 1
    if (left === 0) rmSync(path, { force: true })
    else prepareNext()
    give(opened, text, readers)
    if (left > 0) tryReader()
  }
  const prepareNext = () => {
    renameSync(spare, path)
    own = identityOf(path)
    if (left === 1) return
    try {
      makePipe(spare, named)
    } catch (error) {
      warn(`${named} can be read only once more: ${toFailure(error).message}`)
      left = 1
    }
  }
  tryReader()
  return () => {
    clearTimeout(timer)
    for (const reader of readers) reader.destroy()
    if (left === 0) return
    const opened = openForReader(path, own)
    if (opened !== 'removed' && opened !== 'replaced') rmSync(path, { force: true })
    // A reader that still waits for the pipe gets an end instead of waiting for ever.
    if (typeof opened === 'number') closeSync(opened)
    rmSync(spare, { force: true })
  }
}

/** Writes through a socket, which does not block. A reader that closes the pipe early is no failure. */
function give(descriptor: number, text: string, readers: Set<Socket>): void {
  const reader = new Socket({ fd: descriptor, readable: false, writable: true })
  readers.add(reader)
  reader.on('error', () => {})
  reader.on('close', () => readers.delete(reader))
  reader.end(text)
}

/**
 * Opens the pipe if a reader has opened it. It refuses anything else at its path, because in a folder that others can
 * write, another user could have put a file there.
 */
function openForReader(path: string, own: string): number | 'waiting' | 'removed' | 'replaced' {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR'].includes(code)) return 'removed'
    return ['ELOOP', 'EACCES', 'EISDIR'].includes(code) ? 'replaced' : 'waiting'
  }
  if (textOf(fstatSync(descriptor)) === own) return descriptor
  closeSync(descriptor)
  return 'replaced'
}

const identityOf = (path: string): string => textOf(lstatSync(path))

/** With the owner, because a file system may give the number of a removed file to the next one. */
const textOf = ({ dev, ino, uid }: Stats) => `${dev} ${ino} ${uid}`

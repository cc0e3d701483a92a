import { spawn } from 'node:child_process'
import { Failure } from '../failure.ts'
import { ownFile } from '../own-file.ts'

/** The output and the exit code of a command. */
interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

interface RunOptions {
  /** Standard input; closed unless given. */
  input?: string | undefined
  /**
   * The limit for each output stream; unlimited unless given. The rest is left out, and `stdout` or `stderr` says how
   * much.
   */
  maxBytes?: number
}

/** The result of a command: its JSON, and the messages that it printed. */
export interface Said {
  data: unknown
  notes: string[]
}

export interface CommandLine {
  run: (words: string[], options?: RunOptions) => Promise<Ended>
  /** Runs a command and returns its output. Throws the failure of the command. */
  text: (words: string[], options?: RunOptions) => Promise<string>
  /** Runs a command with `--json` and returns its JSON and its messages. */
  json: (words: string[], options?: RunOptions) => Promise<Said>
}

const main = ownFile('main.js')

/**
 * Every tool runs a command in a process of its own, so the checks of the command protect the tool too. Arguments are
 * passed without a shell, and values only on standard input.
 *
 * @param shared options that every command gets.
 */
export function commandLine(shared: readonly string[], signal: AbortSignal): CommandLine {
  const run = (words: string[], options: RunOptions = {}) => start([...shared, ...words], { ...options, signal })
  const checked = async (words: string[], options?: RunOptions) => {
    const ended = await run(words, options)
    if (ended.code === 0) return ended
    throw failureOf(linesOf(ended.stderr).at(-1) ?? '')
  }
  return {
    run,
    text: async (words, options) => (await checked(words, options)).stdout,
    json: async (words, options) => {
      const { stdout, stderr } = await checked(['--json', ...words], options)
      return { data: stdout === '' ? {} : JSON.parse(stdout), notes: linesOf(stderr) }
    },
  }
}

const linesOf = (text: string) => text.split('\n').filter(Boolean)

function start(words: string[], { input, maxBytes, signal }: RunOptions & { signal: AbortSignal }): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const stdin = input === undefined ? 'ignore' : 'pipe'
    const child = spawn(process.execPath, [main, ...words], { stdio: [stdin, 'pipe', 'pipe'], signal })
    const [stdout, stderr] = [collect(child.stdout!, maxBytes), collect(child.stderr!, maxBytes)]
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout: stdout(), stderr: stderr() }))
    // A command can refuse and exit before it reads its input.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

function collect(stream: NodeJS.ReadableStream, maxBytes = Number.POSITIVE_INFINITY): () => string {
  const chunks: Buffer[] = []
  let kept = 0
  let left = 0
  stream.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, Math.max(0, maxBytes - kept))
    chunks.push(part)
    kept += part.length
    left += chunk.length - part.length
  })
  return () => `${Buffer.concat(chunks).toString('utf8')}${left > 0 ? `\n(${left} more bytes were left out)` : ''}`
}

/** Reads the last line of a failed command, which is JSON if the command ran with `--json`. */
function failureOf(line: string): Failure {
  try {
    const { message, next } = JSON.parse(line).error
    return new Failure('failure', message, next)
  } catch {
    return new Failure('failure', line.replace(/^skerry: /, '') || 'the command failed without a message')
  }
}

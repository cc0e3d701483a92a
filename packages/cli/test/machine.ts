import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A machine with nothing on it but the `skerry` command: its own home, its own project folder. */
export interface Machine {
  home: string
  project: string
  env: Record<string, string>
  skerry: (args: string[], options?: RunOptions) => Promise<Ended>
  shell: (script: string, options?: RunOptions) => Promise<Ended>
  start: (args: string[], options?: RunOptions) => Running
  /** Runs a command line on a terminal, where each answer is typed once its question stands there. */
  terminal: (command: string, answers?: [question: string, typed: string][]) => Promise<Ended>
  write: (file: string, text: string) => Promise<void>
  read: (file: string) => Promise<string>
  remove: () => Promise<void>
}

interface RunOptions {
  /** Standard input; null leaves it open. */
  input?: string | Buffer | null
  env?: Record<string, string>
  cwd?: string
}

interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

interface Running {
  child: ChildProcess
  ended: Promise<Ended>
  /** Waits until stdout holds the text. */
  says: (text: string) => Promise<void>
  /** Waits until stderr holds it. */
  tells: (text: string) => Promise<void>
}

const main = fileURLToPath(new URL('../src/main.js', import.meta.url))

export async function newMachine(url: string): Promise<Machine> {
  const home = await mkdtemp(join(tmpdir(), 'skerry-cli-'))
  const project = join(home, 'shop')
  const bin = join(home, 'bin')
  await Promise.all([mkdir(project), mkdir(bin)])
  await Promise.all([symlink(main, join(bin, 'skerry')), symlink(process.execPath, join(bin, 'node'))])
  const env = {
    HOME: home,
    PATH: `${bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    SKERRY_URL: url,
    LANG: 'C.UTF-8',
    // Compiled code is the same on every machine: shared, so that each need not compile it anew.
    NODE_COMPILE_CACHE: join(tmpdir(), 'skerry-cli-test-compiled'),
  }
  const start = (file: string, args: string[], options: RunOptions = {}) => {
    const child = spawn(file, args, { cwd: options.cwd ?? project, env: { ...env, ...options.env } })
    return running(child, options.input)
  }
  return {
    home,
    project,
    env,
    terminal: async (command, answers = []) => {
      // `script` gives the command a terminal, and passes on what is typed. A terminal of no width breaks every line.
      const args = ['-qefc', `stty cols 100 rows 30; exec ${command}`, '/dev/null']
      const { child, says, ended } = start('script', args, { input: null })
      for (const [question, typed] of answers) {
        await says(question)
        child.stdin!.write(typed)
      }
      return ended
    },
    start: (args, options) => start(join(bin, 'skerry'), args, options),
    skerry: (args, options) => start(join(bin, 'skerry'), args, options).ended,
    shell: (script, options) => start('bash', ['-c', script], options).ended,
    write: (file, text) => writeFile(join(project, file), text),
    read: (file) => readFile(join(project, file), 'utf8'),
    remove: () => rm(home, { recursive: true, force: true }),
  }
}

/** A machine on which the quick start has been gone through. */
export async function signedUp(url: string, orgName: string): Promise<Machine> {
  const machine = await newMachine(url)
  const { code, stderr } = await machine.shell(`skerry signup '${orgName}' && skerry init`)
  if (code !== 0) throw new Error(`the quick start failed: ${stderr}`)
  return machine
}

function running(child: ChildProcess, input: string | Buffer | null = ''): Running {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  const text = (of: Buffer[]) => Buffer.concat(of).toString('utf8')
  const waiting: { on: keyof typeof chunks; text: string; done: () => void }[] = []
  const tell = () => {
    for (const one of waiting) if (text(chunks[one.on]).includes(one.text)) one.done()
  }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]!.on('data', (chunk: Buffer) => {
      chunks[stream].push(chunk)
      tell()
    })
  }
  // A command that does not read its input closes it early.
  child.stdin!.on('error', () => {})
  if (input !== null) child.stdin!.end(input)
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout: text(chunks.stdout), stderr: text(chunks.stderr) }),
    )
  })
  const waitFor = (on: keyof typeof chunks) => (wanted: string) =>
    new Promise<void>((done, fail) => {
      waiting.push({ on, text: wanted, done })
      tell()
      ended.then(({ stderr }) => fail(new Error(`ended without saying ${wanted}: ${stderr}`)), fail)
    })
  return { child, ended, says: waitFor('stdout'), tells: waitFor('stderr') }
}

/** The processes that a process has started. */
export function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? [] : children.split(' ').map(Number)
}

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CommandLine, compiled, type Ending, runWarm, warmScript } from './warm.ts'

/** A machine with only the `skerry` command, and with its own home and project folder. */
export interface Machine {
  home: string
  project: string
  env: Record<string, string>
  skerry: (args: string[], options?: RunOptions) => Promise<Ended>
  shell: (script: string, options?: RunOptions) => Promise<Ended>
  /** Starts a process of its own, with real signals and streams as on a terminal. */
  start: (args: string[], options?: RunOptions) => Running
  /** Runs a command line on a terminal. Each answer is typed when its question is shown. */
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

interface Ended extends Ending {
  stdout: string
  stderr: string
}

interface Running {
  child: ChildProcess
  ended: Promise<Ended>
  /** Waits until stdout contains the text. */
  says: (text: string) => Promise<void>
  /** Waits until stderr contains the text. */
  tells: (text: string) => Promise<void>
}

const main = fileURLToPath(new URL('../src/main.js', import.meta.url))

/**
 * A suite about starts, signals or exits uses `cold` machines, on which each command is a process of its own. On other
 * machines, commands run in processes that have already loaded the code (see warm.ts), except on a terminal.
 */
export async function newMachine(url: string, { cold = false } = {}): Promise<Machine> {
  const home = await mkdtemp(join(tmpdir(), 'skerry-cli-'))
  const project = join(home, 'shop')
  const [bin, coldBin] = [join(home, 'bin'), join(home, 'cold')]
  await Promise.all([project, bin, coldBin].map((folder) => mkdir(folder)))
  await Promise.all([symlink(main, join(coldBin, 'skerry')), symlink(process.execPath, join(bin, 'node'))])
  if (cold) await symlink(main, join(bin, 'skerry'))
  else await writeFile(join(bin, 'skerry'), await warmScript(), { mode: 0o755 })
  const env: Record<string, string> = {
    HOME: home,
    PATH: `${bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    SKERRY_URL: url,
    LANG: 'C.UTF-8',
    NODE_COMPILE_CACHE: compiled,
  }
  const start = (file: string, args: string[], options: RunOptions = {}) => {
    const child = spawn(file, args, { cwd: options.cwd ?? project, env: { ...env, ...options.env } })
    return running(child, options.input)
  }
  /** Runs with files as streams, because the processes that have loaded the command can open files. */
  const onFiles = async (run: (line: Omit<CommandLine, 'args'>) => Promise<Ending>, options: RunOptions = {}) => {
    const streams = await newStreams(home, options.input ?? '')
    const ending = await run({ cwd: options.cwd ?? project, env: { ...env, ...options.env }, streams: streams.paths })
    return { ...ending, ...(await streams.written()) }
  }
  return {
    home,
    project,
    env,
    terminal: async (command, answers = []) => {
      // `script` gives the command a terminal, and passes typed text on. A terminal without a width breaks every line.
      const args = ['-qefc', `stty cols 100 rows 30; exec ${command}`, '/dev/null']
      const { child, says, ended } = start('script', args, { input: null, env: { PATH: `${coldBin}:${env.PATH}` } })
      for (const [question, typed] of answers) {
        await says(question)
        child.stdin!.write(typed)
      }
      return ended
    },
    start: (args, options) => start(main, args, options),
    skerry: (args, options) =>
      cold ? start(main, args, options).ended : onFiles((line) => runWarm({ args, ...line }), options),
    shell: (script, options) =>
      cold ? start('bash', ['-c', script], options).ended : onFiles((line) => runShell(script, line), options),
    write: (file, text) => writeFile(join(project, file), text),
    read: (file) => readFile(join(project, file), 'utf8'),
    remove: () => rm(home, { recursive: true, force: true }),
  }
}

let streamsCount = 0

/** Makes files for the standard streams of one command, and fills the one for stdin. */
async function newStreams(home: string, input: string | Buffer) {
  const folder = join(home, `.streams-${++streamsCount}`)
  await mkdir(folder)
  const [stdin, stdout, stderr] = [join(folder, 'stdin'), join(folder, 'stdout'), join(folder, 'stderr')]
  await Promise.all([writeFile(stdin, input), writeFile(stdout, ''), writeFile(stderr, '')])
  const written = async () => {
    const [out, err] = await Promise.all([readFile(stdout, 'utf8'), readFile(stderr, 'utf8')])
    await rm(folder, { recursive: true })
    return { stdout: out, stderr: err }
  }
  return { paths: { stdin, stdout, stderr }, written }
}

async function runShell(script: string, { cwd, env, streams }: Omit<CommandLine, 'args'>): Promise<Ending> {
  const files = await Promise.all([open(streams.stdin, 'r'), open(streams.stdout, 'a'), open(streams.stderr, 'a')])
  try {
    const child = spawn('bash', ['-c', script], { cwd, env, stdio: files.map(({ fd }) => fd) })
    return await new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('exit', (code, signal) => resolve({ code, signal }))
    })
  } finally {
    await Promise.all(files.map((file) => file.close()))
  }
}

/** A machine on which the quick start was done, with one environment. */
export async function signedUp(url: string, orgName: string, options?: { cold: boolean }): Promise<Machine> {
  const machine = await newMachine(url, options)
  const { code, stderr } = await machine.shell(`skerry signup '${orgName}' && skerry init --env development`)
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

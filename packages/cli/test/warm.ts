import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readlinkSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

// Loading the command takes longer than most command lines. Suites that do not test its start, signals or a terminal
// therefore use processes that have loaded it. These run one command line after another.

export interface CommandLine {
  args: string[]
  env: Record<string, string>
  cwd: string
  /** The paths of the files for its descriptors 0, 1 and 2. */
  streams: { stdin: string; stdout: string; stderr: string }
}

export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

const program = fileURLToPath(new URL('./warm-host.ts', import.meta.url))
/** A folder for compiled code, which is shared because the code is the same on every test machine. */
export const compiled = join(tmpdir(), 'skerry-cli-test-compiled')

const idle: ChildProcess[] = []

/** Runs a command line in an idle process, or in a new one if all are busy. */
export async function runWarm(line: CommandLine): Promise<Ending> {
  const host = idle.pop() ?? startHost()
  const ending = new Promise<Ending>((resolve) => {
    const ended = (code: number | null, signal: NodeJS.Signals | null) => resolve({ code, signal })
    host.once('exit', ended)
    host.once('message', (code: number) => {
      host.off('exit', ended)
      host.unref()
      host.channel?.unref()
      idle.push(host)
      resolve({ code, signal: null })
    })
  })
  host.ref()
  host.channel?.ref()
  host.send(line)
  return ending
}

/** Each derived key takes 19 MB outside of V8's heap. Without these flags, V8 collects all garbage after each of them. */
const collectSeldom = ['--external-memory-accounted-in-global-limit', '--initial-heap-size=200']

/** Starts a process that ends with this one, because its end of the channel then closes. */
function startHost(): ChildProcess {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compiled }
  return fork(program, { env, execArgv: collectSeldom, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}

/**
 * A program for the PATH of shells, in place of `skerry`. It sends its process id to this process, which runs the
 * command line for it. It then ends as the command line ended. The command line opens the script's standard streams, so
 * the script talks to this process over a socket.
 */
export async function warmScript(): Promise<string> {
  return `#!/bin/bash
exec {warm}<>/dev/tcp/127.0.0.1/${await listening}
(echo $$ >&$warm)
read -r -u $warm ending
[[ $ending == SIG* ]] && kill -$ending $$
exit $ending
`
}

const listening = listen()

async function listen(): Promise<number> {
  const server = createServer(serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  return (server.address() as AddressInfo).port
}

async function serve(socket: Socket): Promise<void> {
  // A killed script does not wait for the result.
  socket.on('error', () => {})
  const [pid] = (await once(createInterface({ input: socket }), 'line')) as [string]
  const { code, signal } = await runWarm(commandLineOf(`/proc/${pid}`))
  socket.end(`${signal ?? code}\n`)
}

/** Reads the command line of a process that runs the script: `/bin/bash .../skerry secrets ls`. */
function commandLineOf(proc: string): CommandLine {
  const [, , ...args] = textsIn(`${proc}/cmdline`)
  const variables = textsIn(`${proc}/environ`).map((text) => /^([^=]*)=(.*)$/s.exec(text)?.slice(1) as [string, string])
  const [stdin, stdout, stderr] = [0, 1, 2].map((descriptor) => `${proc}/fd/${descriptor}`) as [string, string, string]
  return {
    args,
    env: Object.fromEntries(variables),
    cwd: readlinkSync(`${proc}/cwd`),
    streams: { stdin, stdout, stderr },
  }
}

const textsIn = (file: string) => readFileSync(file, 'utf8').split('\0').slice(0, -1)

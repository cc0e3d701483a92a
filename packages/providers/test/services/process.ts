import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chmodSync, chownSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const REQUIRED = 'SKERRY_REQUIRE_SERVICES'

/** Folders that are searched for daemons, because PATH often lacks some of them. */
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/usr/libexec']

export function findBinary(name: string): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

/** Returns why a suite cannot run, and prints it. A suite that is skipped silently looks like one that passed. */
export function missing(binaries: readonly string[], debianPackage: string): string | undefined {
  const lacking = binaries.filter((name) => findBinary(name) === undefined)
  if (lacking.length === 0) return undefined
  const reason = `no ${lacking.join(', ')} on this machine (Debian: apt-get install ${debianPackage})`
  if (process.env[REQUIRED] === '1') throw new Error(`${REQUIRED}=1, but ${reason}`)
  process.stderr.write(`\n  SKIPPED: ${reason}\n\n`)
  return reason
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface User {
  uid?: number
  gid?: number
}

/** Returns the first of these users that exists, if the suite runs as root. Otherwise, the current user is kept. */
export function runAs(...names: string[]): User {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of names) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':')
    if (fields) return { uid: Number(fields[2]), gid: Number(fields[3]) }
  }
  throw new Error(`none of the users ${names.join(', ')} exists`)
}

export interface Folder {
  path: string
  remove(): void
}

/** Creates a temporary folder that belongs to a user. */
export function folderFor(user: User, name: string): Folder {
  const path = mkdtempSync(join(tmpdir(), `skerry-${name}-`))
  if (user.uid !== undefined && user.gid !== undefined) chownSync(path, user.uid, user.gid)
  chmodSync(path, 0o700)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export interface Daemon {
  stop(): Promise<void>
}

/** Starts a server in the foreground and waits until it prints that it is ready. It ends with this process. */
export async function startDaemon(
  command: string,
  args: readonly string[],
  { ready, user, cwd }: { ready: RegExp; user: User; cwd: string },
): Promise<Daemon> {
  const child = spawn(command, args, { ...user, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  await untilReady(child, ready, command)
  return {
    async stop() {
      process.removeListener('exit', end)
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

function untilReady(child: ChildProcess, ready: RegExp, command: string): Promise<void> {
  let output = ''
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      if (output.length < 100_000) output += chunk
      if (ready.test(output)) resolve()
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('exit', () => reject(new Error(`${command} ended:\n${output}`)))
    child.once('error', reject)
  })
}

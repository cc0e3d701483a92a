import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { Failure } from '../../failure.ts'
import { findProgram } from '../../run/program.ts'

/** What a program in the sandbox finds otherwise than outside. */
export interface View {
  /** Where the program starts; seen also where the folder around it is empty inside. */
  cwd: string
  /** The same, read-only. */
  readable: readonly string[]
  /** Folders that are empty inside, and files that cannot be opened. */
  hidden: { folders: readonly string[]; files: readonly string[] }
}

/**
 * Namespaces of its own for network, processes and all else, no capability, and no terminal, into which a program could type
 * commands for the shell. Nothing that the program has started outlives it.
 */
const isolation = ['--unshare-all', '--cap-drop', 'ALL', '--new-session', '--die-with-parent']

/** Processes outside are not to be seen: their variables hold the token. */
const base = ['--bind', '/', '/', '--dev', '/dev', '--proc', '/proc']

/** Where services have their socket files, which are no network: over D-Bus, another program could be started outside. */
const socketFolders = ['/tmp', '/run']

/** @throws Failure with the reason why there can be no sandbox here. */
export function findBubblewrap(): string {
  if (process.platform !== 'linux') throw new Failure('failure', 'a sandbox needs Linux')
  let file: string
  try {
    file = findProgram('bwrap', process.env.PATH)
  } catch {
    throw new Failure('failure', 'a sandbox needs bubblewrap, and there is no bwrap', 'install the package bubblewrap')
  }
  const { status, stderr, error } = spawnSync(file, [...isolation, ...base, 'true'], { encoding: 'utf8', env: {} })
  if (status === 0) return file
  const reason = error?.message ?? stderr.trim().split('\n')[0]
  throw new Failure(
    'failure',
    `the system allows no sandbox: ${reason}`,
    'bubblewrap needs user namespaces; in a container it also needs to mount /proc',
  )
}

/** Later ones lie over earlier ones, so what is hidden stays hidden. */
export function bubblewrapArguments({ cwd, readable, hidden }: View): string[] {
  const runtime = process.env.XDG_RUNTIME_DIR
  const emptied = there(runtime?.startsWith('/') ? [...socketFolders, runtime] : socketFolders)
  return [
    ...isolation,
    ...base,
    ...emptied.flatMap((path) => ['--tmpfs', path]),
    // Nowhere else: bound again over itself, the root would uncover all that is hidden.
    ...(emptied.some((folder) => cwd.startsWith(`${folder}/`)) ? ['--bind', cwd, cwd] : []),
    ...there(readable).flatMap((path) => ['--ro-bind', path, path]),
    ...there(hidden.folders).flatMap((path) => ['--tmpfs', path]),
    ...there(hidden.files).flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['--chdir', cwd],
  ]
}

/** Links are followed: what they lead to is what has to be covered. */
const there = (paths: readonly string[]) => [...new Set(paths.filter(existsSync).map((path) => realpathSync(path)))]

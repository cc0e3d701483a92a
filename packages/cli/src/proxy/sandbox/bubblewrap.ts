import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { Failure } from '../../failure.ts'
import { findProgram } from '../../run/program.ts'

/** The differences between the files inside the sandbox and outside. */
export interface View {
  /** The working directory of the program. It is visible even if the folder around it is empty inside. */
  cwd: string
  /** Paths that are visible in the same way, but read-only. */
  readable: readonly string[]
  /** Folders that are empty inside, and files that cannot be opened. */
  hidden: { folders: readonly string[]; files: readonly string[] }
}

/**
 * Separate namespaces for the network, processes and everything else, no capability, and no terminal, into which a
 * program could type commands for the shell. Processes that the program has started do not outlive it.
 */
const isolation = ['--unshare-all', '--cap-drop', 'ALL', '--new-session', '--die-with-parent']

/** A new /proc hides the processes outside, because their environment variables contain the token. */
const base = ['--bind', '/', '/', '--dev', '/dev', '--proc', '/proc']

/**
 * The folders with the socket files of services, which a network namespace does not block. Over D-Bus, a program could
 * start another program outside.
 */
const socketFolders = ['/tmp', '/run']

/** @throws Failure with the reason why there can be no sandbox here. */
export function findBubblewrap(): string {
  if (process.platform !== 'linux') throw new Failure('failure', '--sandbox works only on Linux')
  let file: string
  try {
    file = findProgram('bwrap', process.env.PATH)
  } catch {
    throw new Failure(
      'failure',
      '--sandbox needs the program bwrap, which was not found',
      'install the package bubblewrap',
    )
  }
  const { status, stderr, error } = spawnSync(file, [...isolation, ...base, 'true'], { encoding: 'utf8', env: {} })
  if (status === 0) return file
  const reason = error?.message ?? stderr.trim().split('\n')[0]
  throw new Failure(
    'failure',
    `this system does not allow a sandbox: ${reason}`,
    'bubblewrap needs user namespaces; in a container it also needs to mount /proc',
  )
}

/** Later mounts cover earlier ones, so the hidden paths come last. */
export function bubblewrapArguments({ cwd, readable, hidden }: View): string[] {
  const runtime = process.env.XDG_RUNTIME_DIR
  const emptied = there(runtime?.startsWith('/') ? [...socketFolders, runtime] : socketFolders)
  return [
    ...isolation,
    ...base,
    ...emptied.flatMap((path) => ['--tmpfs', path]),
    // Needed only below an emptied folder. If `cwd` is the root, this mount would uncover all hidden paths.
    ...(emptied.some((folder) => cwd.startsWith(`${folder}/`)) ? ['--bind', cwd, cwd] : []),
    ...there(readable).flatMap((path) => ['--ro-bind', path, path]),
    ...there(hidden.folders).flatMap((path) => ['--tmpfs', path]),
    ...there(hidden.files).flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['--chdir', cwd],
  ]
}

/**
 * Resolves symbolic links, because a mount must cover their targets. Leaves out missing files and the pipe of
 * `<(command)`: the link to a pipe leads to a path that does not exist.
 */
const there = (paths: readonly string[]) => {
  const targets = paths.filter(existsSync).map((path) => realpathSync(path))
  return [...new Set(targets)].filter(existsSync)
}

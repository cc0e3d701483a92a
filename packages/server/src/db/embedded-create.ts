import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fsyncParent, fsyncTree } from './durable-fs.ts'

/**
 * Makes a new PostgreSQL data directory, all of it or nothing: it is built beside its place, synced and renamed. The
 * owner lock of the directory above keeps other servers away, but not the child process of a server that was killed,
 * which may go on for seconds: hence a new name each time.
 */
export async function createPgDir(pgDir: string, log?: (message: string) => void): Promise<void> {
  if (existsSync(pgDir)) return
  log?.('Creating the embedded database, which takes a few seconds once')
  const prefix = `${basename(pgDir)}.new-`
  removeDrafts(dirname(pgDir), prefix)
  const draft = join(dirname(pgDir), prefix + randomUUID())
  try {
    mkdirSync(draft, { mode: 0o700 })
    await runInit(draft)
    fsyncTree(draft)
    renameSync(draft, pgDir)
    fsyncParent(pgDir)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

/** What earlier attempts left that were killed. */
function removeDrafts(directory: string, prefix: string): void {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(prefix)) continue
    try {
      rmSync(join(directory, name), { recursive: true, force: true })
    } catch {
      // Still being written to. It is in nobody's way, and the next creation removes it.
    }
  }
}

const entry = fileURLToPath(new URL(`./embedded-init${extname(import.meta.url)}`, import.meta.url))

function runInit(directory: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--no-warnings', entry, directory], {
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr = (stderr + chunk).slice(-4000)
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      process.off('exit', kill)
      if (code === 0) resolve()
      else reject(new Error(`Creating the embedded database failed (${signal ?? `exit code ${code}`})\n${stderr}`))
    })
  })
}

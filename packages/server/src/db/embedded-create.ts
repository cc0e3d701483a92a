import { spawn } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fsyncParent, fsyncTree } from './durable-fs.ts'

/**
 * Makes a new PostgreSQL data directory, all of it or nothing: it is built beside its place, synced and renamed. What a
 * killed attempt left is removed by the next; the owner lock of the directory above keeps attempts apart.
 */
export async function createPgDir(pgDir: string, log?: (message: string) => void): Promise<void> {
  if (existsSync(pgDir)) return
  log?.('Creating the embedded database, which takes a few seconds once')
  const draft = `${pgDir}.new`
  rmSync(draft, { recursive: true, force: true })
  await runInit(draft)
  fsyncTree(draft)
  renameSync(draft, pgDir)
  fsyncParent(pgDir)
}

const entry = fileURLToPath(new URL(`./embedded-init${extname(import.meta.url)}`, import.meta.url))

function runInit(directory: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--no-warnings', entry, directory], { stdio: ['ignore', 'ignore', 'pipe'] })
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

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Build } from '../../packages/server/src/http/build.ts'
import type { Bundle } from './bundles.ts'
import { finish } from './finish.ts'
import { hashSources } from './sources.ts'

/**
 * Builds pages into the `dist` of their package, unless that was built from the same sources. They are built in another
 * folder and then moved, so that a server that starts meanwhile finds a complete build or none. Returns null if nothing
 * was built.
 *
 * @param begin is called before a build.
 */
export function buildPages(
  root: string,
  pages: Bundle,
  begin: () => void = () => {},
): { seconds: number; firstLoadBytes: number } | null {
  const startedAt = performance.now()
  const home = join(root, 'packages', pages.name)
  const dist = join(home, 'dist')
  const sources = hashSources(root, pages.sources)
  if (sourcesOf(dist) === sources) return null
  begin()
  const fresh = join(home, `dist.${process.pid}`)
  try {
    bundle(home, fresh)
    // Hashed again, because the build may have regenerated the list of routes, which is one of the sources.
    const firstLoadBytes = finish(fresh, pages, hashSources(root, pages.sources))
    replaceFolder(dist, fresh)
    return { seconds: (performance.now() - startedAt) / 1000, firstLoadBytes }
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** The hash of the sources from which a folder was built. */
export function sourcesOf(dist: string): string | undefined {
  const path = join(dist, 'build.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Build).sources : undefined
}

/**
 * Runs Vite in its own process. If memory is short, the system kills that process and not the start of the server.
 */
function bundle(home: string, outDir: string): void {
  mkdirSync(outDir, { recursive: true })
  // Resolved only here, because a machine that already has the pages may lack Vite.
  const vite = join(dirname(fileURLToPath(import.meta.resolve('vite/package.json'))), 'bin/vite.js')
  const config = ['--config', join(home, 'vite.config.ts'), '--mode', 'production', '--logLevel', 'warn']
  const args = [vite, 'build', home, ...config, '--outDir', outDir, '--manifest', 'manifest.json']
  runBuild(args)
}

/**
 * Runs Node with these arguments to its end. The build is for production, also when a test calls this function. If the
 * system killed Node, the error names memory as the cause.
 */
export function runBuild(args: string[]): void {
  const env = { ...process.env, NODE_ENV: 'production' }
  const { error, status, signal } = spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'], env })
  if (error) throw error
  if (signal === 'SIGKILL' || status === 137)
    throw new Error(
      'the system ended it, most likely because memory was short. A build needs 1 GB of free memory. ' +
        'Build on a larger machine with `npm run build`, then copy the dist folder of the package here',
    )
  if (status !== 0) throw new Error(`vite ended with ${signal ?? `exit code ${status}`}`)
}

/** Puts a complete build in the place of an earlier one. */
export function replaceFolder(dist: string, fresh: string): void {
  const old = `${fresh}.old`
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(fresh, dist)
  rmSync(old, { recursive: true, force: true })
}

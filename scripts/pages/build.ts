import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Build } from '../../packages/server/src/http/build.ts'
import type { Bundle } from './bundles.ts'
import { finish } from './finish.ts'
import { hashSources } from './sources.ts'

/**
 * Builds pages into the `dist` of their package, unless what is there was made from the same sources. They are built beside
 * and moved into place, so that a server that starts meanwhile finds a whole build or none. null when nothing was built.
 */
export async function buildPages(
  root: string,
  pages: Bundle,
): Promise<{ seconds: number; firstLoadBytes: number } | null> {
  const startedAt = performance.now()
  const home = join(root, 'packages', pages.name)
  const dist = join(home, 'dist')
  const sources = hashSources(root, pages.sources)
  if (sourcesOf(dist) === sources) return null
  const fresh = join(home, `dist.${process.pid}`)
  try {
    await bundle(home, fresh)
    // The list of routes is made from the files, and may just have been made anew.
    const firstLoadBytes = finish(fresh, pages, hashSources(root, pages.sources))
    replace(dist, fresh)
    return { seconds: (performance.now() - startedAt) / 1000, firstLoadBytes }
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function sourcesOf(dist: string): string | undefined {
  const path = join(dist, 'build.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Build).sources : undefined
}

/** Loaded here, and not above: where nothing is to be built, nothing of it is needed. */
async function bundle(home: string, outDir: string): Promise<void> {
  mkdirSync(outDir, { recursive: true })
  const { build } = await import('vite')
  const configFile = join(home, 'vite.config.ts')
  const silent = { logLevel: 'warn' as const, clearScreen: false }
  await build({ ...silent, root: home, configFile, mode: 'production', build: { outDir, manifest: 'manifest.json' } })
}

function replace(dist: string, fresh: string) {
  const old = `${fresh}.old`
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(fresh, dist)
  rmSync(old, { recursive: true, force: true })
}

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Build } from '../packages/server/src/http/build.ts'
import { replaceFolder, sourcesOf } from './pages/build.ts'
import { describeFile } from './pages/finish.ts'
import { hashSources } from './pages/sources.ts'

/** The files and folders from which the documentation is built. The lockfile stands for the dependencies. */
const sources = [
  ...[
    'docs',
    'packages/site/src',
    'packages/contract/src',
    'packages/server/src',
    'packages/dashboard/app/look',
    'packages/cli/src/help',
  ],
  ...['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md'],
  ...['integrations', 'deploy', 'packages/sdk/README.md', 'scripts/site.ts', 'scripts/pages', 'package-lock.json'],
]

/** A first start waits for the compression of all pages, so it must be quick. The best quality takes 7 s more. */
const brotliQuality = 5

/**
 * Builds the documentation into `packages/site/dist`, unless that was built from the same sources. Any web server can
 * serve the folder. Returns the seconds that it took, or null.
 *
 * @param begin is called before a build.
 */
export async function buildSite(root: string, begin: () => void = () => {}): Promise<number | null> {
  const startedAt = performance.now()
  const dist = join(root, 'packages/site/dist')
  const hashed = hashSources(root, sources)
  if (sourcesOf(dist) === hashed) return null
  begin()
  // Imported only here, because it loads the whole server.
  const { siteFiles } = await import('../packages/site/src/site.ts')
  const fresh = `${dist}.${process.pid}`
  try {
    const files = await siteFiles(root)
    for (const [path, content] of files) {
      mkdirSync(dirname(join(fresh, path)), { recursive: true })
      writeFileSync(join(fresh, path), content)
    }
    const described = [...files.keys()]
      .sort()
      .map((path) => [addressOf(path), describeFile(fresh, path, brotliQuality)])
    const build: Build = { sources: hashed, files: Object.fromEntries(described), importMapSha256: null }
    writeFileSync(join(fresh, 'build.json'), `${JSON.stringify(build)}\n`)
    replaceFolder(dist, fresh)
    return (performance.now() - startedAt) / 1000
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** The address at which a server sends a file: `guides/ci/index.html` is the page `/docs/guides/ci/`. */
const addressOf = (path: string) => `/docs/${path.replace(/(^|\/)index\.html$/, '$1')}`

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Plugin } from 'vite'
import { runChunk } from '../command.ts'
import type { Release } from './releases.ts'

export interface Bundle {
  /** File name -> its code. All are in `packages/<name>/dist`. */
  files: Record<string, string>
  /** Packages of npm that the code imports -> the folder in `packages/` whose modules import them. */
  imports: Map<string, string>
}

/**
 * Bundles the modules of a package, with everything of the workspace that they import.
 *
 * @param entries file name without its ending -> path of the module from the root
 */
export async function bundle(root: string, release: Release, entries: Record<string, string>): Promise<Bundle> {
  const { build } = await import('vite')
  const home = join(root, 'packages', release.name)
  const input = Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(root, path)]))
  const imports = new Map<string, string>()
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }
  const codeSplitting = release.name === 'cli' ? { groups: [runChunk(home)] } : true
  const made = await build({
    root: home,
    configFile: false,
    logLevel: 'error',
    plugins: [placed(root), noted(root, imports)],
    ssr: { noExternal: release.bundled },
    build: {
      ssr: true,
      write: false,
      target: 'node24',
      minify: false,
      rolldownOptions: { input, preserveEntrySignatures: 'strict', output: { ...names, codeSplitting } },
    },
  })
  if (Array.isArray(made) || !('output' in made)) throw new Error('one build was asked for')
  const files: Record<string, string> = {}
  for (const part of made.output) {
    if (part.type !== 'chunk') throw new Error(`${part.fileName}: only code is expected in a bundle`)
    if (part.code.includes(root)) throw new Error(`${part.fileName}: contains the path of the checkout`)
    files[part.fileName] = part.code
  }
  const used = new Set(
    made.output.flatMap((part) => (part.type === 'chunk' ? [...part.imports, ...part.dynamicImports] : [])),
  )
  const usedPackages = new Set([...used].map(packageOf))
  return { files, imports: new Map([...imports].filter(([name]) => usedPackages.has(name))) }
}

/** `@a/b/c` -> `@a/b`; null for files and for modules of Node. */
export function packageOf(specifier: string): string | null {
  if (/^(\.|\/|node:)/.test(specifier)) return null
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/**
 * Modules read files beside them, such as migrations. In a package these files are at the same path, and the module is
 * in `packages/<name>/dist`. So its address is that of the place where it was.
 */
const placed = (root: string): Plugin => ({
  name: 'skerry-placed',
  enforce: 'pre',
  transform(code, id) {
    if (!code.includes('import.meta.') || id.includes('node_modules')) return null
    const path = relative(join(root, 'packages'), id)
    const other = /import\.meta\.(?!url\b)\w+/.exec(code)
    if (other) throw new Error(`packages/${path}: a bundle knows import.meta.url only, and not ${other[0]}`)
    return code.replaceAll('import.meta.url', `new URL('../../${path}', import.meta.url).href`)
  },
})

/** Notes which package of npm is imported from where. */
const noted = (root: string, imports: Map<string, string>): Plugin => ({
  name: 'skerry-noted',
  enforce: 'pre',
  resolveId(specifier, importer) {
    const name = packageOf(specifier)
    const [folder] = relative(join(root, 'packages'), importer ?? root).split('/')
    if (name !== null && folder !== undefined && folder !== '..' && !name.startsWith('@skerry/'))
      imports.set(name, folder)
    return null
  },
})

/** The specifiers of TypeScript modules in a plain JavaScript file: they are entries of the bundle. */
const moduleInStarter = /(['"])(\.{1,2}\/[\w./-]+)\.ts\1/g

/** The modules of TypeScript that a starter loads, as paths from the root. */
export function modulesOfStarter(root: string, path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8')
  return [...text.matchAll(moduleInStarter)].map(([, , module]) => join(path, '..', `${module}.ts`))
}

/** The text of a starter that loads the bundle. */
export function starter(root: string, release: Release, path: string): string {
  const dist = relative(join(path, '..'), `packages/${release.name}/dist`)
  return readFileSync(join(root, path), 'utf8').replace(moduleInStarter, (_, quote: string, module: string) => {
    const file = entryName(join(path, '..', `${module}.ts`))
    return `${quote}${dist}/${file}.js${quote}`
  })
}

/** `packages/server/src/operator/program.ts` -> `operator-program`. */
export const entryName = (path: string): string =>
  path
    .replace(/^packages\/[^/]+\/src\//, '')
    .replace(/\.ts$/, '')
    .replaceAll('/', '-')

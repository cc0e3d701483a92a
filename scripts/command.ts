import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type Build, builtProgram, readBuild, stampOf } from '../packages/cli/src/built.js'

/**
 * Builds the command into the `dist` of its package, unless that was built from the current sources -> the seconds that
 * it took, or null if nothing was built. Commands that run meanwhile keep the files that they started with: a file name
 * contains the hash of its content, and files of the last build stay until the next one.
 */
export async function buildCommand(root: string): Promise<number | null> {
  if (builtProgram()) return null
  const startedAt = performance.now()
  const home = join(root, 'packages/cli')
  const dist = join(home, 'dist')
  const fresh = join(home, `dist.${process.pid}`)
  try {
    const build = await bundle(home, fresh, dist)
    mkdirSync(dist, { recursive: true })
    const kept = new Set(['build.json', ...build.files, ...(readBuild()?.files ?? [])])
    writeFileSync(join(fresh, 'build.json'), JSON.stringify(build))
    for (const file of [...build.files, 'build.json']) renameSync(join(fresh, file), join(dist, file))
    for (const file of readdirSync(dist)) if (!kept.has(file)) rmSync(join(dist, file), { force: true })
    return (performance.now() - startedAt) / 1000
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

interface Modules {
  getModuleInfo: (id: string) => { importedIds: readonly string[] } | null
}

/** These modules, and all modules that they import statically. */
function closureOf(ids: readonly string[], modules: Modules, found = new Set<string>()): Set<string> {
  for (const id of ids) {
    if (found.has(id)) continue
    found.add(id)
    closureOf(modules.getModuleInfo(id)?.importedIds ?? [], modules, found)
  }
  return found
}

/**
 * Everything that `skerry run` loads is one file. Libraries are not bundled, except the one that every command loads.
 *
 * @param home the folder of the command's package
 */
export function runChunk(home: string): { name: (id: string, modules: Modules) => string | null } {
  let ofRun: Set<string> | undefined
  return {
    name: (id, modules) => {
      ofRun ??= closureOf(
        ['src/program.ts', 'src/commands/run.ts'].map((path) => join(home, path)),
        modules,
      )
      return ofRun.has(id) ? 'run' : null
    },
  }
}

/** Bundles the command. Vite is imported only here, because it is not needed when there is nothing to build. */
async function bundle(home: string, fresh: string, dist: string): Promise<Build> {
  const { build } = await import('vite')
  const names = { entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' }
  const codeSplitting = { groups: [runChunk(home)] }
  const made = await build({
    root: home,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: ['commander'] },
    build: {
      ssr: 'src/program.ts',
      outDir: fresh,
      target: 'node24',
      minify: false,
      rolldownOptions: { output: { ...names, codeSplitting } },
    },
  })
  if (Array.isArray(made) || !('output' in made)) throw new Error('one build was asked for')
  const chunks = made.output.filter((part) => part.type === 'chunk')
  const entry = chunks.find((chunk) => chunk.isEntry)
  if (!entry) throw new Error('the build has no program')
  const sources = chunks
    .flatMap((chunk) => chunk.moduleIds)
    .filter((path) => existsSync(path))
    .map((path) => [relative(dist, path).split(sep).join('/'), stampOf(path) ?? ''])
  return { program: entry.fileName, files: chunks.map((chunk) => chunk.fileName), sources: Object.fromEntries(sources) }
}

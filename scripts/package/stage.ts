import { cpSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Bundle, bundle, entryName, modulesOfStarter, starter } from './bundle.ts'
import { launcher } from './launcher.ts'
import { type Lockfile, resolve } from './lockfile.ts'
import { directNeeds, type Manifest, manifestOf, modulesOf, nodePackages } from './manifest.ts'
import { manualFolder, manualsOf } from './manuals.ts'
import { setModes } from './modes.ts'
import { containedIn, noticesOf } from './notices.ts'
import { readmeOf } from './readme.ts'
import type { Release } from './releases.ts'
import { shrinkwrapOf } from './shrinkwrap.ts'
import { declarationsOf, packagesIn } from './types.ts'

/** A package in its folder, before it is packed. */
export interface Staged {
  manifest: Manifest
  /** What it needs at run time, as paths in the lockfile. */
  direct: string[]
  /** The packages of npm whose code is in it, as paths in the lockfile. */
  contained: string[]
}

/** The sources of a release. */
export interface Sources {
  /** The checkout. */
  root: string
  lockfile: Lockfile
  /** The time of the sources. */
  created: Date
}

/** Writes everything that a package consists of into a folder. The folder is laid out as the checkout is. */
export async function stage(sources: Sources, release: Release, folder: string): Promise<Staged> {
  const { root, lockfile, created } = sources
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const beside = filesBeside(root, workspacesOf(lockfile, release.name))
  const starters = beside.filter((path) => path.endsWith('.js'))
  const modules = Object.values(modulesOf(root, release))
  const entries = [...modules, ...starters.flatMap((path) => modulesOfStarter(root, path))]
  const { files, imports } = await bundle(
    root,
    release,
    Object.fromEntries(entries.map((path) => [entryName(path), path])),
  )
  for (const [name, code] of Object.entries(files)) write(`packages/${release.name}/dist/${name}`, code)
  for (const path of beside) copy(root, folder, path)
  for (const path of starters) write(path, starter(root, release, path))
  for (const path of pagesOf(root, release)) copy(root, folder, path)
  for (const path of release.files ?? []) copy(root, folder, path)
  for (const command of release.hasNode ? Object.keys(release.commands) : [])
    write(`bin/${command}`, launcher(release, command, nodePackages(root)))
  const manuals = release.hasManuals ? await manualsOf(created) : {}
  for (const [path, text] of Object.entries(manuals)) write(path, text)
  const types = modules.length > 0 ? declarationsOf(root, modules) : {}
  for (const [path, text] of Object.entries(types)) write(path, text)
  const facts = { write, imports: withTypes(lockfile, imports, types), manuals: Object.keys(manuals) }
  const staged = writeFacts({ root, lockfile, release, ...facts }, folder)
  setModes(folder, Object.values(staged.manifest.bin ?? {}))
  return staged
}

/** Packages whose types declarations name are needed too. */
function withTypes(lockfile: Lockfile, imports: Bundle['imports'], types: Record<string, string>): Bundle['imports'] {
  const named = packagesIn(types).filter((name) => !imports.has(name) && resolve(lockfile, '', name) !== undefined)
  return new Map([...imports, ...named.map((name) => [name, 'sdk'] as const)])
}

interface Facts {
  root: string
  lockfile: Lockfile
  release: Release
  write: (path: string, text: string) => void
  imports: Bundle['imports']
  /** The paths of man pages and completions in the package. */
  manuals: string[]
}

/** Writes what npm and people read of a package: its manifest, versions, README and licenses. */
function writeFacts({ root, lockfile, release, write, imports, manuals }: Facts, folder: string): Staged {
  const direct = directNeeds(root, lockfile, release, imports)
  const contained = containedIn(lockfile, release)
  const pages = manuals.filter((path) => path.startsWith(manualFolder))
  const manifest = manifestOf(root, lockfile, release, { direct, manuals: pages })
  write('package.json', json(manifest))
  if (release.isLocked) write('npm-shrinkwrap.json', json(shrinkwrapOf(lockfile, manifest, direct)))
  write('README.md', readmeOf(root, release))
  copy(root, folder, 'LICENSE')
  if (contained.length > 0) write('THIRD-PARTY-LICENSES.txt', `${noticesOf(root, lockfile, contained)}\n`)
  return { manifest, direct, contained }
}

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`

const copy = (root: string, folder: string, path: string) => cpSync(join(root, path), join(folder, path))

/** The workspaces that a package is made of: its own, and those that it depends on. */
function workspacesOf(lockfile: Lockfile, name: string, found = new Set<string>()): string[] {
  if (found.has(name)) return []
  found.add(name)
  for (const one of Object.keys(lockfile[`packages/${name}`]?.dependencies ?? {}))
    if (one.startsWith('@skerry/')) workspacesOf(lockfile, one.slice('@skerry/'.length), found)
  return [...found].sort()
}

/** Files that are no TypeScript: starters of processes, migrations, styles. */
const filesBeside = (root: string, workspaces: readonly string[]) =>
  workspaces
    .flatMap((name) => globSync(`packages/${name}/src/**/*.*`, { cwd: root, exclude: ['**/*.ts'] }))
    .map((path) => path.replaceAll('\\', '/'))
    .sort()

function pagesOf(root: string, { pages }: Release): string[] {
  const files = {
    all: 'packages/{connect,dashboard,site}/dist/**/*.*',
    descriptions: 'packages/{connect,dashboard}/dist/build.json',
    none: [],
  }[pages]
  return globSync(files, { cwd: root }).sort()
}

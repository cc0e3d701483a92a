import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { entryName } from './bundle.ts'
import { entryAt, type Lockfile, nameAt, resolve } from './lockfile.ts'
import type { Release } from './releases.ts'

/** The parts of a package.json of the workspace that a release needs. */
interface Workspace {
  name: string
  version: string
  license: string
  description: string
  exports?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** The published package.json. */
export interface Manifest extends Omit<Workspace, 'exports'> {
  dependencies: Record<string, string>
  bin?: Record<string, string>
  [field: string]: unknown
}

const readWorkspace = (root: string, folder: string): Workspace =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

/** Path in `exports` -> module of the package, as a path from the root. */
export function modulesOf(root: string, { name, modules }: Release): Record<string, string> {
  const own = Object.entries(readWorkspace(root, `packages/${name}`).exports ?? {})
    .filter(([path]) => !path.includes('*'))
    .map(([path, file]) => [path, file.replace('./src/', '')])
  const all = Object.keys(modules).length > 0 ? Object.entries(modules) : own
  return Object.fromEntries(all.map(([path, file]) => [path, `packages/${name}/src/${file}`]))
}

/** The paths in the lockfile of what the package needs at run time. */
export function directNeeds(
  root: string,
  lockfile: Lockfile,
  release: Release,
  imports: Map<string, string>,
): string[] {
  const found = [...imports].map(([name, folder]) => pathOf(lockfile, `packages/${folder}`, name))
  const nodes = release.hasNode ? nodePackages(root) : []
  return [...found, ...nodes.map((name) => pathOf(lockfile, '', name))].sort()
}

/** The packages of npm with Node, one for each kind of machine. */
export const nodePackages = (root: string): string[] => Object.keys(readWorkspace(root, '.').optionalDependencies ?? {})

function pathOf(lockfile: Lockfile, from: string, name: string): string {
  const path = resolve(lockfile, from, name)
  if (path === undefined) throw new Error(`${from}: imports ${name}, which package-lock.json does not have`)
  return path
}

/** The published package.json, which has exact versions. */
export function manifestOf(
  root: string,
  lockfile: Lockfile,
  release: Release,
  { direct, manuals }: { direct: readonly string[]; manuals: readonly string[] },
): Manifest {
  const { name, version, license, description } = readWorkspace(root, `packages/${release.name}`)
  const versions = (isOptional: boolean) =>
    direct
      .map((path) => [nameAt(path), entryAt(lockfile, path)] as const)
      .filter(([, entry]) => (entry.optional === true) === isOptional)
      .map(([name, entry]) => [name, entry.version ?? ''] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1))
  const exported = Object.entries(modulesOf(root, release)).map(([path, module]) => [
    path,
    {
      types: `./${module.replace(/\.ts$/, '.d.ts')}`,
      default: `./packages/${release.name}/dist/${entryName(module)}.js`,
    },
  ])
  return {
    ...{ name, version, description, license, type: 'module', engines: { node: release.hasNode ? '>=20' : '>=24' } },
    ...(exported.length > 0 ? { exports: Object.fromEntries(exported) } : {}),
    ...(Object.keys(release.commands).length > 0 ? { bin: binOf(release) } : {}),
    // npm links them where `man` looks, if the package is installed globally.
    ...(manuals.length > 0 ? { man: manuals } : {}),
    dependencies: Object.fromEntries(versions(false)),
    ...(release.hasNode ? { optionalDependencies: Object.fromEntries(versions(true)) } : {}),
  }
}

const binOf = ({ name, commands, hasNode }: Release) =>
  Object.fromEntries(
    Object.entries(commands).map(([command, runs]) => [
      command,
      hasNode ? `bin/${command}` : `packages/${name}/src/${runs.at(-1)?.file}`,
    ]),
  )

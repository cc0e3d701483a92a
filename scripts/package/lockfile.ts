import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An entry of package-lock.json. */
export interface Entry {
  name?: string
  version?: string
  resolved?: string
  integrity?: string
  license?: string
  link?: boolean
  optional?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

/** Path of the folder -> its entry. */
export type Lockfile = Record<string, Entry>

export const readLockfile = (root: string): Lockfile =>
  JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages

/** The name of the package in this folder: `node_modules/a/node_modules/@b/c` -> `@b/c`. */
export const nameAt = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** The path of the package that Node finds by this name in a folder; undefined without one. */
export function resolve(lockfile: Lockfile, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = parentOf(folder)) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (lockfile[path]) return path
    if (folder === '') return undefined
  }
}

/** The folder above a package, or above a workspace. */
function parentOf(folder: string): string {
  const at = folder.lastIndexOf('/node_modules/')
  return at === -1 ? '' : folder.slice(0, at)
}

/** The paths of the packages that this one needs. Optional ones that the lockfile does not have are left out. */
export function needsOf(lockfile: Lockfile, path: string): string[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = entryAt(lockfile, path)
  const isOptional = (name: string) =>
    optionalDependencies?.[name] !== undefined || peerDependenciesMeta?.[name]?.optional === true
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    .sort()
    .flatMap((name) => {
      const found = resolve(lockfile, path, name)
      if (found === undefined && !isOptional(name)) throw new Error(`${path}: package-lock.json has no ${name}`)
      return found ?? []
    })
}

/** The given packages and all that they need, sorted. */
export function closureOf(lockfile: Lockfile, paths: readonly string[]): string[] {
  const found = new Set<string>()
  const visit = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    needsOf(lockfile, path).forEach(visit)
  }
  paths.forEach(visit)
  return [...found].sort()
}

export function entryAt(lockfile: Lockfile, path: string): Entry {
  const entry = lockfile[path]
  if (!entry) throw new Error(`${path}: is not in package-lock.json`)
  return entry
}

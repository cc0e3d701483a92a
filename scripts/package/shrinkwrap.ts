import { closureOf, type Entry, entryAt, type Lockfile, nameAt } from './lockfile.ts'

/** The fields of an entry that npm reads when it installs a package. */
const kept = [
  ...[
    'version',
    'resolved',
    'integrity',
    'license',
    'cpu',
    'os',
    'libc',
    'optional',
    'hasInstallScript',
    'bin',
    'engines',
  ],
  ...['dependencies', 'optionalDependencies', 'peerDependencies', 'peerDependenciesMeta'],
]

/**
 * The npm-shrinkwrap.json of a package: the part of package-lock.json that it needs, so that npm installs the versions
 * that the suites ran with, and checks the hash of each.
 *
 * @param manifest the published package.json
 * @param direct the paths of its dependencies in the lockfile
 */
export function shrinkwrapOf(
  lockfile: Lockfile,
  manifest: { name: string; version: string },
  direct: readonly string[],
): object {
  const packages: Record<string, object> = { '': manifest }
  const from = new Map<string, string>()
  for (const path of closureOf(lockfile, direct)) {
    const target = path.replace(/^packages\/[^/]+\//, '')
    const other = from.get(target)
    if (other !== undefined)
      throw new Error(`${nameAt(path)}: the package needs two versions in one place, of ${other} and of ${path}`)
    from.set(target, path)
    packages[target] = pick(entryAt(lockfile, path))
  }
  const { name, version } = manifest
  return { name, version, lockfileVersion: 3, requires: true, packages }
}

function pick(entry: Entry): object {
  const fields = Object.entries(entry).filter(([name]) => kept.includes(name))
  return Object.fromEntries(fields)
}

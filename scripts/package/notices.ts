import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closureOf, entryAt, type Lockfile, nameAt, needsOf, resolve } from './lockfile.ts'
import type { Release } from './releases.ts'

/** The packages of npm whose code is in a package of ours: in its bundle, and in the pages. Paths in the lockfile. */
export function containedIn(lockfile: Lockfile, { name, bundled, pages }: Release): string[] {
  const own = bundled.map((one) => resolve(lockfile, `packages/${name}`, one) ?? one)
  const ofPages = pages === 'all' ? ['packages/connect', 'packages/dashboard'] : []
  const direct = ofPages.flatMap((workspace) => needsOf(lockfile, workspace)).filter((path) => !isOwn(path))
  const libraries = ['packages/crypto', 'packages/sdk'].flatMap((workspace) => needsOf(lockfile, workspace))
  return closureOf(lockfile, [
    ...own,
    ...direct,
    ...(ofPages.length > 0 ? libraries.filter((path) => !isOwn(path)) : []),
  ])
}

const isOwn = (path: string) => path.startsWith('node_modules/@skerry/')

/** The licenses of the packages whose code is in a package of ours: they ask for it. Empty if there are none. */
export function noticesOf(root: string, lockfile: Lockfile, paths: readonly string[]): string {
  return paths
    .map((path) => {
      const { version, license } = entryAt(lockfile, path)
      const texts = licenseTexts(join(root, path))
      return [`${nameAt(path)} ${version}, ${license}`, ...texts].join('\n\n')
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

const licenseTexts = (folder: string) =>
  readdirSync(folder)
    .filter((name) => /^(licen[cs]e|notice|copying)/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').trim())

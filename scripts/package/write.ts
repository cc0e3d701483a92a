import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readLockfile } from './lockfile.ts'
import { releases } from './releases.ts'
import { type Packed, sbomOf } from './sbom.ts'
import { type Staged, stage } from './stage.ts'

/**
 * Writes the files of a release into a folder, which is replaced as a whole: a package for each row of `releases`,
 * `sbom.spdx.json` and `checksums.txt`. The pages must be built already. Returns the names of the files.
 *
 * @param root the checkout
 * @param created the time of the sources
 */
export async function writeRelease(root: string, folder: string, created: Date): Promise<string[]> {
  const fresh = `${folder}.${process.pid}`
  const staging = `${fresh}.staged`
  try {
    mkdirSync(fresh, { recursive: true })
    const lockfile = readLockfile(root)
    const packed: Packed[] = []
    for (const release of releases) {
      const from = join(staging, release.name)
      packed.push(pack(await stage(root, lockfile, release, from), from, fresh))
    }
    const bill = 'sbom.spdx.json'
    writeFileSync(join(fresh, bill), `${JSON.stringify(sbomOf(lockfile, packed, created), null, 2)}\n`)
    const files = [...packed.map(({ file }) => file), bill].sort()
    const lines = files.map((file) => `${sha256Of(join(fresh, file))}  ${file}\n`)
    writeFileSync(join(fresh, 'checksums.txt'), lines.join(''))
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(dirname(folder), { recursive: true })
    renameSync(fresh, folder)
    return [...files, 'checksums.txt']
  } finally {
    rmSync(fresh, { recursive: true, force: true })
    rmSync(staging, { recursive: true, force: true })
  }
}

const sha256Of = (path: string) => hash('sha256', readFileSync(path))

/** npm packs with its own fixed times, owners, modes and order. */
function pack(staged: Staged, from: string, into: string): Packed {
  const { name, version } = staged.manifest
  execFileSync('npm', ['pack', from, '--pack-destination', into, '--ignore-scripts', '--silent'], { stdio: 'pipe' })
  const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
  return { ...staged, file, sha256: sha256Of(join(into, file)) }
}

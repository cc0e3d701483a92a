import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { missingForExecutable } from './executable.ts'
import { readLockfile } from './lockfile.ts'
import { writePrograms } from './programs.ts'
import { releases } from './releases.ts'
import { type Packed, purlOf, sbomOf } from './sbom.ts'
import { sha256Of } from './sha256.ts'
import { type Staged, stage } from './stage.ts'

interface Written {
  /** The names of the files. */
  files: string[]
  /** Why the executable and its package for Debian were left out. */
  missing: string | undefined
}

/**
 * Writes the files of a release into a folder, which is replaced as a whole: a package for each row of `releases`, the
 * executable, `sbom.spdx.json` and `checksums.txt`. The pages must be built already.
 *
 * @param root the checkout
 * @param created the time of the sources
 */
export async function writeRelease(root: string, folder: string, created: Date): Promise<Written> {
  const fresh = `${folder}.${process.pid}`
  const staging = `${fresh}.staged`
  try {
    mkdirSync(fresh, { recursive: true })
    const sources = { root, lockfile: readLockfile(root), created }
    const packed: Packed[] = []
    for (const release of releases) {
      const from = join(staging, release.name)
      packed.push(pack(await stage(sources, release, from), from, fresh))
    }
    const missing = missingForExecutable()
    if (missing === undefined) packed.push(...(await writePrograms(sources, join(staging, 'programs'), fresh)))
    const bill = 'sbom.spdx.json'
    writeFileSync(join(fresh, bill), `${JSON.stringify(sbomOf(sources.lockfile, packed, created), null, 2)}\n`)
    const files = [...packed.map(({ file }) => file), bill].sort()
    const lines = files.map((file) => `${sha256Of(join(fresh, file))}  ${file}\n`)
    writeFileSync(join(fresh, 'checksums.txt'), lines.join(''))
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(dirname(folder), { recursive: true })
    renameSync(fresh, folder)
    return { files: [...files, 'checksums.txt'], missing }
  } finally {
    rmSync(fresh, { recursive: true, force: true })
    rmSync(staging, { recursive: true, force: true })
  }
}

/** npm packs with its own fixed times, owners and order. */
function pack({ manifest, direct, contained }: Staged, from: string, into: string): Packed {
  const { name, version, license } = manifest
  execFileSync('npm', ['pack', from, '--pack-destination', into, '--ignore-scripts', '--silent'], { stdio: 'pipe' })
  const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
  return {
    name,
    version,
    license,
    purl: purlOf(name, version),
    file,
    sha256: sha256Of(join(into, file)),
    direct,
    contained,
  }
}

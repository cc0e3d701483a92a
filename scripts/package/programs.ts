import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeDeb } from './deb.ts'
import { writeExecutable } from './executable.ts'
import { manualsOf } from './manuals.ts'
import { setModes } from './modes.ts'
import { noticesOf } from './notices.ts'
import type { Packed } from './sbom.ts'
import { sha256Of } from './sha256.ts'
import type { Sources } from './stage.ts'

/**
 * Writes the command as one executable for Linux on x64: in an archive, and as a package for Debian and Ubuntu. Both
 * contain the completions, the man pages and the licenses.
 *
 * @param scratch a folder for files that are needed only meanwhile
 */
export async function writePrograms(sources: Sources, scratch: string, into: string): Promise<Packed[]> {
  const { root, lockfile, created } = sources
  const { version, license } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'))
  const name = `skerry-${version}-linux-x64`
  const folder = join(scratch, name)
  mkdirSync(folder, { recursive: true })
  const contained = await writeExecutable(sources, join(folder, 'skerry'), join(scratch, 'executable'))
  for (const [path, text] of Object.entries(await manualsOf(created))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), `${noticesOf(root, lockfile, contained)}\n`)
  setModes(folder, ['skerry'])
  const [archive, deb] = [`${name}.tar.gz`, `skerry_${version}_amd64.deb`]
  writeArchive(folder, created, join(into, archive))
  writeDeb({ version, created, folder }, join(scratch, 'deb'), join(into, deb))
  const same = { name: 'skerry', version, license, direct: [], contained }
  return [
    { ...same, ...fileAt(into, archive), purl: `pkg:generic/skerry@${version}` },
    { ...same, ...fileAt(into, deb), purl: `pkg:deb/skerry@${version}?arch=amd64` },
  ]
}

const fileAt = (folder: string, file: string) => ({ file, sha256: sha256Of(join(folder, file)) })

/** The order, times and owners of the archive do not depend on the machine. */
function writeArchive(folder: string, created: Date, file: string): void {
  const same = ['--sort=name', '--format=ustar', '--owner=0', '--group=0', '--numeric-owner']
  const time = `--mtime=@${created.getTime() / 1000}`
  const where = ['-C', dirname(folder), folder.slice(dirname(folder).length + 1)]
  execFileSync('tar', [...same, time, '--use-compress-program=gzip -n', '-cf', file, ...where], { stdio: 'pipe' })
}

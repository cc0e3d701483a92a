import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { setModes } from './modes.ts'

/** Nobody reads mail at this address. Debian wants one for each package. */
const maintainer = 'The Skerry project <packages@skerry.invalid>'

const licenses = 'THIRD-PARTY-LICENSES.txt'

export interface Program {
  version: string
  /** The time of the sources. */
  created: Date
  /** The folder with the executable, its manuals below `share`, and the licenses. */
  folder: string
}

/** Writes the package for Debian and Ubuntu. */
export function writeDeb(program: Program, scratch: string, file: string): void {
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(scratch, path)), { recursive: true })
    writeFileSync(join(scratch, path), content)
  }
  mkdirSync(join(scratch, 'usr/bin'), { recursive: true })
  copyFileSync(join(program.folder, 'skerry'), join(scratch, 'usr/bin/skerry'))
  cpSync(join(program.folder, 'share'), join(scratch, 'usr/share'), {
    recursive: true,
    filter: (path) => !/\.1$/.test(path),
  })
  for (const page of globSync('share/man/man1/*.1', { cwd: program.folder }))
    write(`usr/${page}.gz`, gzipSync(readFileSync(join(program.folder, page)), { level: 9 }))
  write('usr/share/doc/skerry/copyright', copyrightOf(program))
  copyFileSync(join(program.folder, licenses), join(scratch, 'usr/share/doc/skerry', licenses))
  write('usr/share/doc/skerry/changelog.gz', gzipSync(changelogOf(program), { level: 9 }))
  const installed = globSync('usr/**', { cwd: scratch }).filter((path) => statSync(join(scratch, path)).isFile())
  const sums = installed.sort().map((path) => `${md5Of(join(scratch, path))}  ${path}\n`)
  write('DEBIAN/md5sums', sums.join(''))
  write(
    'DEBIAN/control',
    controlOf(
      program.version,
      installed.map((path) => statSync(join(scratch, path)).size),
    ),
  )
  setModes(scratch, ['usr/bin/skerry'])
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(program.created.getTime() / 1000) }
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', scratch, file], { stdio: 'pipe', env })
}

/** dpkg compares these, to find damaged files. */
const md5Of = (path: string) => createHash('md5').update(readFileSync(path)).digest('hex')

const controlOf = (version: string, sizes: readonly number[]) => `Package: skerry
Version: ${version}
Architecture: amd64
Maintainer: ${maintainer}
Installed-Size: ${sizes.reduce((sum, size) => sum + Math.ceil(size / 1024), 0)}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 5)
Suggests: bubblewrap
Section: utils
Priority: optional
Description: give programs secrets that the server cannot read
 This is the command skerry of Skerry, a server for secrets that holds
 ciphertext only. The command encrypts and decrypts on this machine, runs
 programs with their secrets, and manages who can read them.
`

const copyrightOf = ({ created }: Program) => `Copyright: ${created.getUTCFullYear()}, the Skerry contributors

Skerry is licensed under the Apache License 2.0. On Debian systems its text is in
/usr/share/common-licenses/Apache-2.0.

The executable contains Node and libraries. Their licenses are in THIRD-PARTY-LICENSES.txt of this folder.
`

const changelogOf = ({ version, created }: Program) => `skerry (${version}) unstable; urgency=medium

  * CHANGELOG.md of the sources lists what is new in this version.

 -- ${maintainer}  ${created.toUTCString().replace('GMT', '+0000')}
`

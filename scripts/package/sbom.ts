import { hash } from 'node:crypto'
import { closureOf, type Entry, entryAt, type Lockfile, nameAt, needsOf } from './lockfile.ts'

/** A file of the release that people install. */
export interface Packed {
  name: string
  version: string
  license: string
  /** The name of the package elsewhere, in the notation of package URLs. */
  purl: string
  file: string
  sha256: string
  /** The packages of npm that it needs at run time, as paths in the lockfile. */
  direct: string[]
  /** The packages of npm whose code is in it, as paths in the lockfile. */
  contained: string[]
}

/** `from` is described by, needs or contains `to`, by their ids in the document. */
type Relation = [from: string, type: 'DESCRIBES' | 'DEPENDS_ON' | 'CONTAINS', to: string]

const documentId = 'SPDXRef-DOCUMENT'

/**
 * The software bill of materials of a release, in SPDX 2.3: what each package contains and needs, with the versions,
 * hashes and licenses of the lockfile.
 *
 * @param created the time of the sources, so that the same sources have the same bill
 */
export function sbomOf(lockfile: Lockfile, released: readonly Packed[], created: Date): object {
  const idAt = (path: string) => idOf('npm', nameAt(path), entryAt(lockfile, path).version)
  const paths = closureOf(
    lockfile,
    released.flatMap(({ direct, contained }) => [...direct, ...contained]),
  )
  const relations: Relation[] = [
    ...released.flatMap(({ file, direct, contained }): Relation[] => {
      const id = idOf(file)
      return [
        [documentId, 'DESCRIBES', id],
        ...direct.map((path): Relation => [id, 'DEPENDS_ON', idAt(path)]),
        ...contained.map((path): Relation => [id, 'CONTAINS', idAt(path)]),
      ]
    }),
    ...paths.flatMap((path) => needsOf(lockfile, path).map((to): Relation => [idAt(path), 'DEPENDS_ON', idAt(to)])),
  ]
  // A package may be in several folders of the lockfile.
  const ofNpm = new Map(paths.map((path) => [idAt(path), npmPackage(nameAt(path), entryAt(lockfile, path))]))
  const packages = [...released.map(ownPackage), ...ofNpm.values()]
  const relationships = [...new Map(relations.map((one) => [one.join(' '), one])).values()].map(
    ([spdxElementId, relationshipType, relatedSpdxElement]) => ({
      spdxElementId,
      relationshipType,
      relatedSpdxElement,
    }),
  )
  const version = released[0]?.version
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: documentId,
    name: `skerry-${version}`,
    documentNamespace: `urn:skerry:sbom:${version}:${hash('sha256', JSON.stringify([packages, relationships]))}`,
    creationInfo: { created: created.toISOString().replace(/\.\d+Z$/, 'Z'), creators: ['Organization: Skerry'] },
    packages,
    relationships,
  }
}

/** Ids have letters, digits, dots and hyphens only. */
const idOf = (...parts: (string | undefined)[]) => `SPDXRef-${parts.join('-').replace(/[^\w.-]|_/g, '-')}`

export const purlOf = (name: string, version = '') =>
  `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`

const describe = (name: string, version: string | undefined, license: string | undefined, purl: string) => ({
  ...{ name, versionInfo: version, filesAnalyzed: false },
  ...{ licenseConcluded: 'NOASSERTION', licenseDeclared: license ?? 'NOASSERTION', copyrightText: 'NOASSERTION' },
  externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
})

const ownPackage = ({ name, version, license, purl, file, sha256 }: Packed) => ({
  SPDXID: idOf(file),
  ...describe(name, version, license, purl),
  ...{ packageFileName: file, downloadLocation: 'NOASSERTION' },
  checksums: [{ algorithm: 'SHA256', checksumValue: sha256 }],
})

const npmPackage = (name: string, { version, license, resolved, integrity }: Entry) => ({
  SPDXID: idOf('npm', name, version),
  ...describe(name, version, license, purlOf(name, version)),
  downloadLocation: resolved ?? 'NOASSERTION',
  checksums: integrity === undefined ? [] : [checksumOf(integrity)],
})

/** `sha512-<base64>` -> the hash as SPDX writes it. */
function checksumOf(integrity: string) {
  const [algorithm = '', value = ''] = integrity.split('-')
  return { algorithm: algorithm.toUpperCase(), checksumValue: Buffer.from(value, 'base64').toString('hex') }
}

import { hash } from 'node:crypto'
import { closureOf, type Entry, entryAt, type Lockfile, nameAt, needsOf } from './lockfile.ts'
import type { Staged } from './stage.ts'

/** A packed package: its file, and the hash of that. */
export interface Packed extends Staged {
  file: string
  sha256: string
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
  const idAt = (path: string) => idOf(nameAt(path), entryAt(lockfile, path).version)
  const paths = closureOf(
    lockfile,
    released.flatMap(({ direct, contained }) => [...direct, ...contained]),
  )
  const relations: Relation[] = [
    ...released.flatMap(({ manifest: { name, version }, direct, contained }): Relation[] => {
      const id = idOf(name, version)
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
  const version = released[0]?.manifest.version
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
const idOf = (name: string, version = '') => `SPDXRef-npm-${`${name}-${version}`.replace(/[^\w.-]|_/g, '-')}`

const purlOf = (name: string, version = '') => `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`

const describe = (name: string, version: string | undefined, license: string | undefined) => ({
  ...{ SPDXID: idOf(name, version), name, versionInfo: version, filesAnalyzed: false },
  ...{ licenseConcluded: 'NOASSERTION', licenseDeclared: license ?? 'NOASSERTION', copyrightText: 'NOASSERTION' },
  externalRefs: [
    { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purlOf(name, version) },
  ],
})

const ownPackage = ({ manifest: { name, version, license }, file, sha256 }: Packed) => ({
  ...describe(name, version, license),
  ...{ packageFileName: file, downloadLocation: 'NOASSERTION' },
  checksums: [{ algorithm: 'SHA256', checksumValue: sha256 }],
})

const npmPackage = (name: string, { version, license, resolved, integrity }: Entry) => ({
  ...describe(name, version, license),
  downloadLocation: resolved ?? 'NOASSERTION',
  checksums: integrity === undefined ? [] : [checksumOf(integrity)],
})

/** `sha512-<base64>` -> the hash as SPDX writes it. */
function checksumOf(integrity: string) {
  const [algorithm = '', value = ''] = integrity.split('-')
  return { algorithm: algorithm.toUpperCase(), checksumValue: Buffer.from(value, 'base64').toString('hex') }
}

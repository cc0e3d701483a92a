import { createHash } from 'node:crypto'
import { type ArchiveTools, checkArchive } from '@skerry/contract/export/archive-check'
import type { ArchiveManifest } from '@skerry/contract/export/archive-format'
import { readerWords } from '@skerry/contract/grants/readers'
import type { Database, Tx } from '../../db/database.ts'
import { recordIn, system } from '../../kernel/audit.ts'
import { restoreOrganization } from '../../model/organizations/write.ts'
import { restoreRecoveryKit } from '../../model/people/recovery-kits.ts'
import { restoreKeys, restoreUser } from '../../model/people/users.ts'
import type { Section } from '../archive.ts'
import { openTrailRestore, type TrailRestore } from '../audit-proof/restored.ts'
import { findSame, insertRows, listKnown, type Row } from './restore-store.ts'

/** The result of a restore, with everything that people must do by hand because no archive contains it. */
export interface Restored {
  manifest: ArchiveManifest
  rows: number
  /** Labels of the rows that were not restored, by the advice of their section. */
  left: Map<string, string[]>
  /** Service tokens in force, which their holders must register again. */
  tokens: string[]
  /** Grants to readers of the other server, whose keys stay there. */
  readerGrants: number
  /** People whose encrypted private key is not in the archive. */
  peopleWithoutKeys: string[]
  /** True if the audit log matches the signed checkpoint of the other server; null if that cannot be checked. */
  trail: boolean | null
}

/** Thrown for an archive that cannot be restored here. The message has the reason. */
class NotRestorable extends Error {}

type Verify = ArchiveTools['verify']

/**
 * Checks the whole archive. Then one transaction reads it again and creates the organization under its original ids,
 * because ciphertexts contain them.
 *
 * @param open reads the file from its beginning each time it is called
 */
export async function restore(
  { db, now, archiveSections }: { db: Database; now: () => Date; archiveSections: readonly Section[] },
  open: () => AsyncIterable<Uint8Array>,
  verify: Verify,
): Promise<Restored> {
  const sha256 = () => createHash('sha256')
  const { manifest } = await checkArchive(open(), { sha256, verify })
  if (!manifest.included.versions) throw new NotRestorable('the archive was made without the versions of secrets')
  return await db.transaction(async (tx) => {
    const restoring = openRestore(tx, archiveSections, manifest, now().toISOString())
    await checkArchive(open(), {
      sha256,
      verify,
      onRow: ({ section, text }) => restoring.add(section, JSON.parse(text)),
    })
    const restored = await restoring.finish()
    const { id: orgId } = manifest.organization
    recordIn({ now }, tx, system, {
      orgId,
      action: 'org.restored',
      resourceId: orgId,
      metadata: { archive: manifest.digest, createdAt: manifest.createdAt, rows: restored.rows },
    })
    return restored
  })
}

/** The rows of a section follow each other, and are stored in batches. */
const batchRows = 200
const batchCharacters = 4 * 1024 * 1024

function openRestore(tx: Tx, sections: readonly Section[], manifest: ArchiveManifest, now: string) {
  const restored: Restored = {
    manifest,
    rows: 0,
    left: new Map(),
    tokens: [],
    readerGrants: 0,
    peopleWithoutKeys: [],
    trail: null,
  }
  const keepers = keepersOf(tx, sections, manifest, restored)
  let batch: Row[] = []
  let [current, characters] = ['', 0]
  const flush = async () => {
    if (batch.length > 0) await keepers.of(current)?.(batch)
    ;[batch, characters] = [[], 0]
  }
  return {
    async add(section: string, row: Row) {
      if (section !== current || batch.length >= batchRows || characters >= batchCharacters) await flush()
      current = section
      batch.push(row)
      characters += typeof row.ciphertext === 'string' ? row.ciphertext.length : 0
    },
    async finish(): Promise<Restored> {
      await flush()
      restored.trail = (await keepers.trail()?.finish(now)) ?? null
      if (restored.trail === false)
        throw new NotRestorable('the audit entries of the archive are not those that its checkpoint was signed for')
      return restored
    },
  }
}

type Keep = (rows: Row[]) => Promise<unknown>

/** Returns the handler of each section. Row digests have none, because they only serve to verify the archive. */
function keepersOf(tx: Tx, sections: readonly Section[], { organization }: ArchiveManifest, restored: Restored) {
  let trail: TrailRestore | undefined
  const special: Record<string, Keep> = {
    organization: ([row = {}]) => addOrganization(tx, organization, row),
    async users(rows) {
      for (const row of rows) await addUser(tx, row, restored)
    },
    async auditProof([proof]) {
      trail = openTrailRestore(tx, organization, proof as never)
    },
    auditGaps: async (rows) => trail?.addGaps(rows as never),
    audit: async (rows) => trail?.addEntries(rows as never),
  }
  const of = (name: string): Keep | undefined => {
    const section = sections.find((one) => one.name === name)
    if (!section) return Object.hasOwn(special, name) ? special[name] : undefined
    return async (rows) => {
      if (section.notRestored) return noteLeft(restored, section.notRestored, rows)
      const kept = rows.filter(({ principalType }) => !Object.hasOwn(readerWords, String(principalType)))
      restored.readerGrants += rows.length - kept.length
      restored.rows += kept.length
      if (name === 'serviceTokens')
        restored.tokens.push(...kept.filter((row) => row.revokedAt === null).map((row) => `${row.name} (${row.id})`))
      if (kept.length > 0) await insertRows(tx, organization.id, section, kept)
    }
  }
  return { of, trail: () => trail }
}

function noteLeft({ left }: Restored, { label, advice }: NonNullable<Section['notRestored']>, rows: Row[]): void {
  const labels = rows.map((row) => String(row[label] ?? row.id))
  left.set(advice, [...(left.get(advice) ?? []), ...labels])
}

async function addOrganization(tx: Tx, told: { id: string; slug: string }, row: Row): Promise<void> {
  if (row.id !== told.id || row.slug !== told.slug)
    throw new NotRestorable('its manifest is about another organization')
  const same = await findSame(tx, told.id, told.slug)
  if (same?.id === told.id) throw new NotRestorable(`the organization ${told.slug} is here already`)
  if (same) throw new NotRestorable(`another organization here has the slug ${told.slug}`)
  await restoreOrganization(tx, row)
}

/** A person who is known here must have the same id, because grants and the audit log contain ids. */
async function addUser(tx: Tx, row: Row, restored: Restored): Promise<void> {
  const name = String(row.email ?? row.name ?? row.id)
  if (row.publicKeyJwk !== null && row.encryptedPrivateKey === null) restored.peopleWithoutKeys.push(name)
  const known = await listKnown(tx, row)
  if (known.length === 0) {
    await restoreUser(tx, row)
    return addRecoveryKit(tx, row)
  }
  const [one] = known
  if (!one || known.length > 1 || one.id !== row.id || one.issuer !== row.issuer || one.subject !== row.subject)
    throw new NotRestorable(`${name} has signed in here before, under another id; restore before people sign in`)
  if (one.publicKeyJwk !== null && row.publicKeyJwk !== null && one.publicKeyJwk !== row.publicKeyJwk)
    throw new NotRestorable(`${name} has another key here than the one that the archive's keys are wrapped to`)
  await restoreKeys(tx, row)
  await addRecoveryKit(tx, row)
}

/** An archive has the recovery kit of the person who made it, and of nobody else. */
async function addRecoveryKit(tx: Tx, row: Row): Promise<void> {
  if (typeof row.recoveryKit === 'string') await restoreRecoveryKit(tx, row)
}

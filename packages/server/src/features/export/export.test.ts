import { audit } from '@skerry/contract/audit/endpoints'
import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { DamagedArchive } from '@skerry/contract/export/archive-check'
import { exporting } from '@skerry/contract/export/endpoints'
import canonicalize from 'canonicalize'
import { describe, expect, test } from 'vitest'
import { archiveOf, readArchive } from '../../../test/archives.ts'
import { encryptKey, newKmsKey } from '../../../test/kms-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { newDecoy, newMember, newToken, putSecret } from '../../../test/tenant.ts'
import { seal } from '../audit-proof/seal.ts'

const { world, tenant, envId } = await openEnv()
const { context } = world.server
const person = await newMember(world, tenant, 'admin')
const decoy = await newDecoy(world, tenant)
await newKmsKey(world, tenant, encryptKey([tenant.admin]))
for (const name of ['FIRST', 'SECOND', 'SECOND']) await putSecret(world, tenant, envId, name)
await seal(context)

const byPerson = { ...tenant, admin: person }
const publicKey = async () => (await world.call(auditProof.exportKey)).body.publicKey

describe('an archive', () => {
  test('is answered in the form of the contract, complete and signed', async () => {
    const { status, body } = await world.call(exporting.create, { as: person.as, params: tenant, body: {} })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['format', 'data', 'manifest', 'signature'])
    const { manifest, data, signature } = await readArchive(await archiveOf(world, byPerson), await publicKey())
    expect(manifest).toMatchObject({
      format: 'skerry.archive.v1',
      organization: { id: tenant.orgId, slug: tenant.slug },
      requestedBy: { type: 'user', id: person.id },
      included: { versions: true, audit: true, auditLimit: null },
    })
    expect(signature).toMatchObject({ algorithm: 'Ed25519' })
    expect(data.secrets).toHaveLength(2)
    expect(data.secretVersions).toHaveLength(3)
    expect(data.kmsGrants).toHaveLength(1)
    expect(manifest.sections.map(({ name, rows }) => [name, rows])).toEqual(
      manifest.sections.map(({ name }) => [name, data[name]?.length ?? 0]),
    )
  })

  test('has its sections in the order in which a restore can insert their rows', async () => {
    const { manifest } = await readArchive(await archiveOf(world, tenant))
    const order = `organization users memberships invitations machineClients applications groups environments compositions
      serviceTokens honeyTokens keyGrants secrets secretVersions changeRequests changeReviews kmsKeys kmsKeyVersions
      kmsGrants recoveries recoveryCustodians recoveryGrants recoveryRequests recoveryContributions agents agentPolicies
      leaseTargets rotationPolicies syncConnections syncBindings logSinks accessRequests accessRequestEnvironments
      deletedSecrets deletedSecretVersions secretDetails offboardings offboardingRows overrides teams teamMembers
      teamEnvironments keyExclusions plannedGrants invitationTeams invitationEnvironments proposedRekeys
      directoryRoots directoryHeads directoryEntries directoryReaders auditProof
      auditGaps audit rowDigests`
    expect(manifest.sections.map(({ name }) => name)).toEqual(order.split(/\s+/))
  })

  test('contains each row on a line of its own, in the canonical form of RFC 8785', async () => {
    const text = (await archiveOf(world, tenant)).toString()
    const rows = text.split('\n').filter((line) => /^,?\{"(?!format)/.test(line))
    expect(rows.length).toBeGreaterThan(30)
    for (const row of rows) expect(row.replace(/^,/, '')).toBe(canonicalize(JSON.parse(row.replace(/^,/, ''))))
  })

  test('contains no hash or credential, and only the caller’s own encrypted private key', async () => {
    const other = await newMember(world, tenant)
    const { data } = await readArchive(await archiveOf(world, byPerson))
    const sealedOf = Object.fromEntries(data.users!.map((user) => [user.id, user.encryptedPrivateKey]))
    expect(sealedOf).toMatchObject({ [person.id]: expect.stringMatching(/^pk1\./), [other.id]: null })
    const text = JSON.stringify(data)
    for (const withheld of ['tokenHash', 'secretHash', 'sealed', 'wrappedAdminSecret', 'wrappedCredential'])
      expect(text).not.toContain(withheld)
    expect(data.serviceTokens!.map(({ id }) => id)).not.toContain(decoy.id)
  })

  test('contains its own audit entry, and leaves out what the request excludes', async () => {
    const { data } = await readArchive(await archiveOf(world, tenant, { auditLimit: 3 }))
    expect(data.audit!.at(-1)).toMatchObject({
      action: 'org.exported',
      actorId: tenant.admin.id,
      metadata: { auditLimit: 3, versions: true, audit: true },
    })
    expect(data.audit).toHaveLength(3)
    const { manifest } = await readArchive(
      await archiveOf(world, tenant, { includeVersions: false, includeAudit: false }),
    )
    const names = manifest.sections.map(({ name }) => name)
    for (const name of ['secretVersions', 'deletedSecretVersions', 'audit', 'auditProof', 'auditGaps'])
      expect(names).not.toContain(name)
  })

  test('marks a section that was cut short', async () => {
    const truncated = async (body: object) =>
      (await readArchive(await archiveOf(world, tenant, body))).manifest.sections
        .filter((section) => section.truncated)
        .map(({ name }) => name)
    expect(await truncated({ auditLimit: 3 })).toEqual(['audit'])
    expect(await truncated({ auditLimit: 100_000 })).toEqual([])
    expect(await truncated({})).toEqual([])
  })

  test('is only for admins, is recorded on every call, and is refused to a token bound to an environment', async () => {
    const count = async () => {
      const query = { action: 'org.exported', limit: 200 }
      return (await world.call(audit.list, { as: tenant.admin.as, params: tenant, query })).body.entries.length
    }
    const before = await count()
    const member = await newMember(world, tenant)
    const bound = await newToken(world, tenant, { role: 'admin', environmentId: envId })
    for (const { as } of [member, bound])
      expect((await world.call(exporting.create, { as, params: tenant, body: {} })).status).toBe(403)
    expect(await count()).toBe(before)
    await archiveOf(world, tenant)
    expect(await count()).toBe(before + 1)
  })

  test('shows one moment, without changes that are written while it is read', async () => {
    const response = await fetch(`${world.url}/v1/orgs/${tenant.orgId}/export`, {
      method: 'POST',
      headers: { authorization: tenant.admin.as },
    })
    await putSecret(world, tenant, envId, 'LATER')
    const { data } = await readArchive(Buffer.from(await response.arrayBuffer()))
    expect(data.secrets!.map(({ name }) => name)).not.toContain('LATER')
  })
})

describe('a damaged archive', () => {
  test('with one changed byte is refused, with the section and number of a changed row', async () => {
    const key = await publicKey()
    const bytes = await archiveOf(world, tenant)
    const places = placesOf(bytes.toString('latin1'))
    expect(places.length).toBeGreaterThan(50)
    for (const { at, section, row } of places) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] as number) ^ 1
      const refused = await readArchive(changed, key).catch((error: unknown) => error)
      expect(refused, `byte ${at}`).toBeInstanceOf(DamagedArchive)
      if (row !== null) expect(refused).toMatchObject({ section, row })
    }
  })

  test('that was cut off or extended is refused', async () => {
    const bytes = await archiveOf(world, tenant)
    for (const changed of [bytes.subarray(0, -1), bytes.subarray(0, -2), Buffer.concat([bytes, Buffer.from('\n')])])
      await expect(readArchive(changed)).rejects.toBeInstanceOf(DamagedArchive)
  })

  test('with a changed manifest is refused, and so is the key of another server', async () => {
    const bytes = await archiveOf(world, tenant)
    const forged = Buffer.from(bytes.toString().replace(tenant.slug, tenant.slug.toUpperCase()))
    await expect(readArchive(forged, await publicKey())).rejects.toBeInstanceOf(DamagedArchive)
    await expect(readArchive(bytes, Buffer.alloc(32, 1).toString('base64url'))).rejects.toMatchObject({
      section: 'manifest',
    })
  })
})

/** A byte in the middle of each line and the newline at its end, with the row of the line. */
function placesOf(text: string) {
  const places: { at: number; section: string; row: number | null }[] = []
  let [at, section, row] = [0, '', 0]
  for (const line of text.split('\n').slice(0, -1)) {
    const named = /^,?"(\w+)":\[$/.exec(line)?.[1]
    const isRow = /^,?\{/.test(line) && section !== ''
    if (named) [section, row] = [named, 0]
    else if (isRow) row++
    if (line === ']') section = ''
    places.push({ at: at + Math.floor(line.length / 2), section, row: isRow ? row : null })
    places.push({ at: at + line.length, section, row: null })
    at += line.length + 1
  }
  return places
}

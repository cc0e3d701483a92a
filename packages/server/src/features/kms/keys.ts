import type { kms } from '@skerry/contract/kms/endpoints'
import { type KmsSpec, kmsSpecs } from '@skerry/contract/kms/specs'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import { checkSigningKey } from '../../http/public-key.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { type InOrg, isAdmin } from '../orgs/scope.ts'
import { insertGrants } from './grant-store.ts'
import { checkGrantees } from './grantees.ts'
import { addVersion, insertKey, insertVersion, listKeys, listVersions, moveKey, owns } from './key-store.ts'
import type { KmsKey, OnKey } from './scope.ts'

export async function list(input: In<typeof kms.list, InOrg>): Out<typeof kms.list> {
  const { db, org, principal, query } = input
  const cursor = pageFrom(query, 'kmsKey')
  const rows = await listKeys(db, org, isAdmin(input) ? null : principal, cursor)
  const page = pageOf(rows, cursor, byCreation)
  return { keys: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

export async function create(input: In<typeof kms.create, InOrg>): Out<typeof kms.create> {
  const { db, org, principal, body, now, newId, audit } = input
  const { name, purpose, spec, applicationId = null, groupId = null } = body
  if (kmsSpecs[spec].purpose !== purpose)
    throw fail('invalid_request', `body.spec: is not one of a key to ${purpose} with`)
  const publicKeyJwk = publicKeyOf(spec, body.publicKeyJwk)
  if (applicationId !== null && groupId !== null)
    throw fail('invalid_request', 'body.groupId: a key belongs to an application or to a group, not to both')
  await checkGrantees(input, body.grants)
  if (applicationId !== null && !(await owns(db, org, 'applications', applicationId)))
    throw fail('not_found', 'body.applicationId: no such app')
  if (groupId !== null && !(await owns(db, org, 'groups', groupId)))
    throw fail('not_found', 'body.groupId: no such group')
  const id = newId('kmsKey')
  const key = await insertKey(db, org, { id, name, purpose, spec, applicationId, groupId, now })
  if (!key) throw fail('conflict', 'body.name: another key uses it')
  await insertVersion(db, key, { publicKeyJwk, now })
  await insertGrants(db, key, body.grants, { by: principal, now })
  audit('kms_key.created', id, { name, purpose, spec, grantees: body.grants.map(({ principalId }) => principalId) })
  return { key: toResponse(key) }
}

/** A signing key has a public half. The check refuses a private one that somebody sends by mistake. */
function publicKeyOf(spec: KmsSpec, publicKeyJwk: string | undefined): string | null {
  if (publicKeyJwk === undefined) {
    if (kmsSpecs[spec].purpose === 'sign')
      throw fail('invalid_request', 'body.publicKeyJwk: is required for a signing key')
    return null
  }
  checkSigningKey('body.publicKeyJwk', spec, publicKeyJwk)
  return publicKeyJwk
}

export async function get({ db, kmsKey }: In<typeof kms.get, OnKey>): Out<typeof kms.get> {
  return { key: toResponse(kmsKey), versions: await listVersions(db, kmsKey) }
}

/** Anyone who has a signature may verify it, also when its key is disabled. */
export async function publicKeys({ db, kmsKey }: In<typeof kms.public, OnKey>): Out<typeof kms.public> {
  const { purpose, spec, currentVersion } = kmsKey
  if (purpose !== 'sign') throw fail('invalid_request', 'an encryption key has no public key')
  const versions = await listVersions(db, kmsKey)
  const keys = versions.map(({ version, publicKeyJwk }) => ({ version, publicKeyJwk: publicKeyJwk as string }))
  return { purpose, spec, currentVersion, keys }
}

/** Holders keep earlier versions, so that what was encrypted with them can be opened. */
export async function rotate(input: In<typeof kms.rotate, OnKey>): Out<typeof kms.rotate> {
  const { db, kmsKey, principal, body, now, audit } = input
  const publicKeyJwk = publicKeyOf(kmsKey.spec, body.publicKeyJwk)
  await checkGrantees(input, body.grants)
  const key = await addVersion(db, kmsKey, now)
  if (!key) throw fail('conflict', 'the key is disabled or deleted')
  await insertVersion(db, key, { publicKeyJwk, now })
  await insertGrants(db, key, body.grants, { by: principal, now })
  const { name, currentVersion: version } = key
  audit('kms_key.rotated', key.id, { name, version, grantees: body.grants.map(({ principalId }) => principalId) })
  return { key: toResponse(key) }
}

export async function disable(input: In<typeof kms.disable, OnKey>): Out<typeof kms.disable> {
  const { db, kmsKey, now, audit } = input
  const changed = await moveKey(db, kmsKey, { trigger: 'disable', to: 'disabled', now })
  if (changed) audit('kms_key.disabled', kmsKey.id, { name: kmsKey.name })
  return { key: toResponse(changed ?? { ...kmsKey, disabled: true }) }
}

export async function enable(input: In<typeof kms.enable, OnKey>): Out<typeof kms.enable> {
  const { db, kmsKey, now, audit } = input
  const changed = await moveKey(db, kmsKey, { trigger: 'enable', to: 'enabled', now })
  if (changed) audit('kms_key.enabled', kmsKey.id, { name: kmsKey.name })
  return { key: toResponse(changed ?? { ...kmsKey, disabled: false }) }
}

export async function remove({ db, kmsKey, now, audit }: In<typeof kms.delete, OnKey>): Out<typeof kms.delete> {
  const deleted = await moveKey(db, kmsKey, { trigger: 'delete', to: 'deleted', now })
  if (!deleted) throw fail('not_found', 'no such managed key')
  audit('kms_key.deleted', kmsKey.id, { name: kmsKey.name })
  return { ok: true }
}

const toResponse = ({ orgId, ...key }: KmsKey) => key

import type { kms } from '@skerry/contract/kms/endpoints'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { deleteGrants, insertGrants, listGrants, listOwn } from './grant-store.ts'
import { checkGrantees } from './grantees.ts'
import { lockKey } from './key-store.ts'
import { keyLifecycle, stateOf } from './lifecycle.ts'
import type { OnKey } from './scope.ts'

/** Answers the caller's grants. A grant from before a rotation opens only what was encrypted before it. */
export async function own({ db, kmsKey, principal }: In<typeof kms.own, OnKey>): Out<typeof kms.own> {
  const { purpose, spec, currentVersion } = kmsKey
  const state = stateOf(kmsKey)
  if (keyLifecycle.next(state, 'use') === undefined) throw fail('forbidden', `this key is ${state}`)
  const grants = await listOwn(db, kmsKey, principal)
  if (grants.length === 0) throw fail('forbidden', 'you hold no grant of this key')
  return { purpose, spec, currentVersion, grants }
}

export async function list({ db, kmsKey }: In<typeof kms.grants, OnKey>): Out<typeof kms.grants> {
  return { grants: await listGrants(db, kmsKey) }
}

export async function grant(input: In<typeof kms.grant, OnKey>): Out<typeof kms.grant> {
  const { db, kmsKey, principal, body, now, audit } = input
  await checkGrantees(input, [body])
  // Locked until commit: a rotation in between would make this a grant of a version that was not wrapped.
  const key = await lockKey(db, kmsKey)
  if (!key) throw fail('not_found', 'no such managed key')
  keyLifecycle.check(stateOf(key), 'grant')
  const version = key.currentVersion
  if (body.version !== undefined && body.version !== version)
    throw fail('conflict', `body.version: version ${version} is the current one`)
  const { principalType, principalId } = body
  const inserted = await insertGrants(db, key, [body], { by: principal, now })
  if (inserted === 0) throw fail('conflict', `${principalId} holds version ${version} of this key already`)
  audit('kms_grant.created', key.id, { principalType, principalId, version })
  return { grant: { principalType, principalId, version } }
}

/** A former holder may have kept the key. Only a rotation protects what is encrypted later. */
export async function revoke({ db, kmsKey, query, audit }: In<typeof kms.revoke, OnKey>): Out<typeof kms.revoke> {
  const { principalType, principalId } = query
  if (!principalType || !principalId)
    throw fail('invalid_request', `query.${principalType ? 'principalId' : 'principalType'}: is required`)
  const versions = await deleteGrants(db, kmsKey, { principalType, principalId })
  if (versions.length === 0) throw fail('not_found', 'no such grant')
  audit('kms_grant.revoked', kmsKey.id, { principalType, principalId, versions })
  return { ok: true }
}

import { limits } from '@skerry/contract/limits'
import { credentialPrefixes } from '@skerry/contract/prefixes'
import type { vaultProjects } from '@skerry/contract/vault/projects'
import type { In, Out } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../kernel/context.ts'
import type { UserPrincipal } from '../../../kernel/principal.ts'
import { lockMaker } from '../../../model/people/made.ts'
import type { OnKey, OnProject, PlatformKey } from './scope.ts'
import { insertKey, insertRegistrationCode, revokeKey } from './store.ts'

type InPerson = OnProject & { principal: UserPrincipal }

export async function create(input: In<typeof vaultProjects.createKey, InPerson>): Out<typeof vaultProjects.createKey> {
  const { db, project, principal, body, now, newId, audit } = input
  await lockMaker(db, { id: project.orgId }, principal)
  const secret = credentialPrefixes.vaultPlatform + newSecret()
  const id = newId('vaultKey')
  const { name } = body
  const key = await insertKey(db, project, { id, name, keyHash: sha256(secret), createdById: principal.id, now })
  audit('vault.key.created', id, { name, projectId: project.id })
  return { key: toResponse(key), secret }
}

export async function revoke(input: In<typeof vaultProjects.revokeKey, OnKey>): Out<typeof vaultProjects.revokeKey> {
  const { db, vaultKey, now, audit } = input
  const { name, projectId } = vaultKey
  if (await revokeKey(db, vaultKey, now)) audit('vault.key.revoked', vaultKey.id, { name, projectId })
  return { ok: true }
}

/**
 * The program that presents the code becomes the project’s executor. It is therefore stored as a hash and works once.
 */
export async function createRegistrationCode(
  input: In<typeof vaultProjects.createRegistrationCode, InPerson>,
): Out<typeof vaultProjects.createRegistrationCode> {
  const { db, project, now, audit } = input
  const code = `vrc_${newSecret()}`
  const expiresAt = new Date(Date.parse(now) + limits.vaultRegistrationCodeTtlSeconds * 1000).toISOString()
  await insertRegistrationCode(db, project, { codeHash: sha256(code), now, expiresAt })
  audit('vault.registration_code.created', project.id, { expiresAt })
  return { code, expiresAt }
}

export const toResponse = ({ orgId, ...key }: PlatformKey) => key

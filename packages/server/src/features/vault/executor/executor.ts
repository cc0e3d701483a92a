import { limits } from '@skerry/contract/limits'
import { credentialPrefixes } from '@skerry/contract/prefixes'
import type { WrappingKey } from '@skerry/contract/vault'
import type { vaultExecutor } from '@skerry/contract/vault-executor'
import type { Static } from 'typebox'
import { checkPublicKey } from '../../../http/public-key.ts'
import type { In, Out } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../kernel/context.ts'
import { fail } from '../../../kernel/errors.ts'
import { thumbprintOf } from '../../agents/bundle.ts'
import { projectLifecycle } from '../lifecycles.ts'
import { findProject, type Project } from '../projects/scope.ts'
import { holdProject } from '../projects/store.ts'
import { readOrigin } from '../urls.ts'
import { checkCatalog } from './catalog.ts'
import { type ByExecutor, type Executor, findActive } from './scope.ts'
import { insertExecutor, putKey, spendCode, updateCatalog } from './store.ts'

/** One answer for codes that are unknown, used or too old. One that is refused for another reason is not spent. */
export async function register(input: In<typeof vaultExecutor.register>): Out<typeof vaultExecutor.register> {
  const { db, body, now, newId, audit } = input
  const origin = readOrigin(body.origin, 'body.origin')
  const key = readKey(body.wrappingKey)
  checkCatalog(body.catalog)
  const spent = await spendCode(db, sha256(body.code), now)
  if (!spent) throw fail('unauthorized', 'unknown registration code')
  const project = await holdProject(db, { orgId: spent.orgId, id: spent.projectId })
  projectLifecycle.check(project.status, 'use')
  const credential = credentialPrefixes.vaultExecutor + newSecret()
  const id = newId('vaultExecutor')
  const { catalog, sdkVersion } = body
  const facts = { id, origin, catalog, sdkVersion, credentialHash: sha256(credential), now }
  if (!(await insertExecutor(db, project, facts)))
    throw fail('conflict', 'the project has an active executor; an admin can disable it')
  await putKey(db, { orgId: project.orgId, id }, { ...key, now })
  const by = { orgId: project.orgId, actor: { type: 'vault_executor', id } }
  audit('vault.executor.registered', id, { projectId: project.id, origin, thumbprint: key.thumbprint, sdkVersion }, by)
  return { executorId: id, projectId: project.id, credential }
}

/** The server computes the thumbprint itself: it is what links carry and what people's browsers trust. */
function readKey({ jwk, thumbprint }: Static<typeof WrappingKey>): { jwk: object; thumbprint: string } {
  const text = JSON.stringify(jwk)
  checkPublicKey('body.wrappingKey.jwk', text)
  if (thumbprintOf(text) !== thumbprint)
    throw fail('invalid_request', 'body.wrappingKey.thumbprint: is not that of the key')
  const { kty, crv, x, y } = JSON.parse(text)
  return { jwk: { kty, crv, x, y }, thumbprint }
}

export async function me({ db, executor }: In<typeof vaultExecutor.me, ByExecutor>): Out<typeof vaultExecutor.me> {
  const { id, display, status } = (await findProject(db, { id: executor.orgId }, executor.projectId)) as Project
  return { executor: toResponse(executor), project: { id, display, status } }
}

export async function setCatalog(
  input: In<typeof vaultExecutor.catalog, ByExecutor>,
): Out<typeof vaultExecutor.catalog> {
  const { db, executor, body, now, audit } = input
  const { catalog, sdkVersion } = body
  checkCatalog(catalog)
  await updateCatalog(db, executor, { catalog, sdkVersion, now })
  const providers = catalog.providers.map(({ id }) => id)
  const { orgId, projectId } = executor
  audit('vault.executor.catalog_updated', executor.id, { projectId, providers, sdkVersion }, { orgId })
  return { executor: toResponse({ ...executor, catalog, sdkVersion }) }
}

/** Earlier keys stay for as long as anything is wrapped to them; the one before, for links that are under way. */
export async function addKey(input: In<typeof vaultExecutor.addKey, ByExecutor>): Out<typeof vaultExecutor.addKey> {
  const { db, executor, body, now, audit } = input
  const { orgId, projectId, id } = executor
  const key = readKey(body.wrappingKey)
  await holdProject(db, { orgId, id: projectId })
  await putKey(db, executor, { ...key, now })
  const after = (await findActive(db, { orgId, id: projectId })) as Executor
  if (after.keys.length > limits.vaultWrappingKeysMax)
    throw fail('conflict', `an executor has at most ${limits.vaultWrappingKeysMax} keys`)
  audit('vault.executor.key_added', id, { projectId, thumbprint: key.thumbprint }, { orgId })
  return { executor: toResponse(after) }
}

export const toResponse = ({ orgId, ...executor }: Executor) => executor

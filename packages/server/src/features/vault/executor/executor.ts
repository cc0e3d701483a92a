import { type KeyObject, verify } from 'node:crypto'
import { limits } from '@skerry/contract/limits'
import { credentialPrefixes } from '@skerry/contract/prefixes'
import type { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultRegistrationText } from '@skerry/contract/vault/facts'
import type { WrappingKey } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import { checkPublicKey, importPublicKey } from '../../../http/public-key.ts'
import type { In, Out } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../kernel/context.ts'
import { fail } from '../../../kernel/errors.ts'
import { thumbprintOf } from '../../agents/bundle.ts'
import { projectLifecycle } from '../lifecycles.ts'
import { findProject, type Project } from '../projects/scope.ts'
import { lockProject } from '../projects/store.ts'
import { readOrigin } from '../urls.ts'
import { checkCatalog } from './catalog.ts'
import { type ByExecutor, type Executor, findActive } from './scope.ts'
import { insertExecutor, putKey, renewExecutor, spendCode, updateCatalog } from './store.ts'

type Registering = In<typeof vaultExecutor.register>['body']
type Key = { jwk: object; thumbprint: string }

/**
 * Unknown, used and expired codes get the same answer. A registration that fails otherwise does not use up its code.
 */
export async function register(input: In<typeof vaultExecutor.register>): Out<typeof vaultExecutor.register> {
  const { db, body, now, newId, audit } = input
  const origin = readOrigin(body.origin, 'body.origin')
  const key = readKey(body.wrappingKey)
  checkCatalog(body.catalog)
  const spent = await spendCode(db, sha256(body.code), now)
  if (!spent) throw fail('unauthorized', 'unknown registration code')
  const project = await lockProject(db, { orgId: spent.orgId, id: spent.projectId })
  projectLifecycle.check(project.status, 'use')
  const credential = credentialPrefixes.vaultExecutor + newSecret()
  const { catalog, sdkVersion } = body
  const facts = { origin, catalog, sdkVersion, credentialHash: sha256(credential), now }
  const active = await findActive(db, project)
  const isAgain = active !== undefined && isProven(active, key, body)
  const id = isAgain ? active.id : newId('vaultExecutor')
  const stored = isAgain ? await renewExecutor(db, active, facts) : await insertExecutor(db, project, { id, ...facts })
  if (!stored) throw fail('conflict', 'the project has an active executor; an admin can disable it')
  if (!isAgain) await putKey(db, { orgId: project.orgId, id }, { ...key, now })
  const by = { orgId: project.orgId, actor: { type: 'vault_executor', id } }
  const metadata = { projectId: project.id, origin, thumbprint: key.thumbprint, sdkVersion, again: isAgain }
  audit('vault.executor.registered', id, metadata, by)
  return { executorId: id, projectId: project.id, credential }
}

/**
 * An executor that lost its credential, for example because the response never arrived, can register again. It proves
 * that it has the private half of a registered key. A code alone does not replace an executor.
 */
function isProven({ keys }: Executor, { thumbprint, jwk }: Key, { code, origin, proof }: Registering): boolean {
  if (proof === undefined || !keys.some((one) => one.thumbprint === thumbprint)) return false
  const key = importPublicKey(JSON.stringify(jwk)) as KeyObject
  const text = Buffer.from(vaultRegistrationText(code, origin))
  return verify('sha256', text, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(proof, 'base64url'))
}

/** The server computes the thumbprint itself, because links carry it and people's browsers trust it. */
function readKey({ jwk, thumbprint }: Static<typeof WrappingKey>): Key {
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

/** A new key removes no old one: credentials may still be wrapped to it, and links that are in use may name it. */
export async function addKey(input: In<typeof vaultExecutor.addKey, ByExecutor>): Out<typeof vaultExecutor.addKey> {
  const { db, executor, body, now, audit } = input
  const { orgId, projectId, id } = executor
  const key = readKey(body.wrappingKey)
  await lockProject(db, { orgId, id: projectId })
  await putKey(db, executor, { ...key, now })
  const after = (await findActive(db, { orgId, id: projectId })) as Executor
  if (after.keys.length > limits.vaultWrappingKeysMax)
    throw fail('conflict', `an executor has at most ${limits.vaultWrappingKeysMax} keys`)
  audit('vault.executor.key_added', id, { projectId, thumbprint: key.thumbprint }, { orgId })
  return { executor: toResponse(after) }
}

export const toResponse = ({ orgId, ...executor }: Executor) => executor

import { randomBytes } from 'node:crypto'
import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { generateKeyPair } from '@skerry/crypto/keys'
import { openCredential, sealCredential } from '@skerry/crypto/vault'
import { expect, test } from 'vitest'
import { findings, needle } from '../../../test/needles.ts'
import { openTenant } from '../../../test/scene.ts'
import { tableDump } from '../../../test/state.ts'
import { newMember } from '../../../test/tenant.ts'
import {
  consented,
  newCode,
  newExecutor,
  newLink,
  newManageLink,
  newPlatformKey,
  newProject,
  open,
  sent,
} from '../../../test/vault-scene.ts'
import { thumbprintOf } from '../agents/bundle.ts'

const { world, tenant } = await openTenant()

test('no row, log line or answer contains a credential, only the executor can open it, and tokens are stored as hashes', async () => {
  const canary = `canary ${randomBytes(12).toString('hex')} in the clear`
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const person = await newMember(world, tenant, 'admin')
  const projectId = (await newProject(world, tenant)).id
  const platform = await newPlatformKey(world, tenant, projectId, person)
  const code = await newCode(world, tenant, projectId, person)
  const key = { jwk: JSON.parse(publicKeyJwk), thumbprint: thumbprintOf(publicKeyJwk) }
  const executor = await newExecutor(world, code, key)
  const vault = { platform, executor }
  const { as, connectionId, token, claimToken } = await consented(world, vault)
  const place = { projectId, connectionId, providerId: 'acme', slot: 'api_key', revision: 1 } as const
  const keyThumbprint = key.thumbprint
  const sealed = { ...(await sealCredential(canary, place, publicKeyJwk)), keyThumbprint }
  await sent(world, vaultConnect.submit, { as, body: { slots: [{ slot: 'api_key', revision: 1, ...sealed }] } })
  const params = { orgId: tenant.orgId, projectId, vaultConnectionId: connectionId, slot: 'api_key' }
  const { credential } = await sent(world, vaultExecutor.release, { as: executor.as, params })
  expect(await openCredential(credential, credential, privateKey)).toBe(canary)

  // The test also sends the credential in fields where it does not belong, such as a slot name or a provider id.
  const manage = await open(world, await newManageLink(world, vault))
  await world.call(vaultConnect.claim, { body: { token: canary } })
  await world.call(vaultConnect.submit, { as, body: { slots: [{ slot: canary, revision: 1, ...sealed }] } })
  const body = { expectedRevision: 1, ...sealed, ciphertext: canary }
  await world.call(vaultExecutor.writeBack, { as: executor.as, params, body })
  await world.call(vaultPlatform.createSession, { as: platform.as, body: { userRef: 'u', providerId: canary } })
  await world.call(vaultConnect.manage, { as: manage.as })
  await world.call(vaultProjects.connections, { as: tenant.admin.as, params })

  const unused = (await newLink(world, vault)).token
  const shownOnce = [code, token, unused, claimToken, ...[platform, executor].map((one) => one.as.slice(7))]
  const rows = await tableDump(world)
  const log = [{ where: 'the log', text: world.log.join('') }]
  const answers = world.answers.map((text, index) => ({ where: `answer ${index}`, text }))
  const secret = needle('credential', canary)
  const tokens = shownOnce.map((one) => needle('token', one))
  expect(findings([secret, ...tokens], [...rows, ...log])).toEqual([])
  expect(findings([secret], answers)).toEqual([])
  expect(findings(tokens, answers)).toHaveLength(tokens.length)
})

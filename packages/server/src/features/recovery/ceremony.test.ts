import { me } from '@skerry/contract/me/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { exportPrivateKey, generateKeyPair } from '@skerry/crypto/keys'
import { rewrapShare } from '@skerry/crypto/recovery'
import { unwrapKey } from '@skerry/crypto/wrap'
import { createEnvironment } from '@skerry/sdk/environments'
import { gatherRecoveryKey, newRecoveryKey, recoverKeys } from '@skerry/sdk/recovery'
import { environmentKey, putSecret } from '@skerry/sdk/secrets'
import { expect, test } from 'vitest'
import { sealedPrivateKey } from '../../../test/blobs.ts'
import { clientOf } from '../../../test/canary-steps.ts'
import { findings, needle } from '../../../test/needles.ts'
import { openTenant } from '../../../test/scene.ts'
import { tableDump } from '../../../test/state.ts'
import { newApp, newMember } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()
const { orgId } = tenant

async function person() {
  const actor = await newMember(world, tenant, 'member', { keys: false })
  const pair = await generateKeyPair()
  const body = { publicKeyJwk: pair.publicKeyJwk, encryptedPrivateKey: sealedPrivateKey() }
  await world.call(me.putKeys, { as: actor.as, body })
  return { ...actor, ...pair, client: clientOf(world, { bearer: actor.as.replace('Bearer ', '') }) }
}

test('three of five custodians give a newcomer an environment, and the server sees only ciphertext', async () => {
  const admin = clientOf(world, { bearer: tenant.admin.as.replace('Bearer ', '') })
  const own = await generateKeyPair()
  const place = { orgId, appId: (await newApp(world, tenant)).id, name: 'Production', slug: 'production' }
  const custodians = await Promise.all(Array.from({ length: 5 }, person))
  const newcomer = await person()
  const before = await createEnvironment(admin, place, own.publicKeyJwk)
  const canary = 'canary of recovery, in the clear'
  await putSecret(admin, { orgId, envId: before.environment.id, name: 'VALUE' }, canary, before.key.dek)
  const body = await newRecoveryKey({
    orgId,
    threshold: 3,
    custodians: custodians.map(({ id: userId, publicKeyJwk }) => ({ userId, publicKeyJwk })),
    environments: [{ environmentId: before.environment.id, key: before.key.bytes }],
  })
  const { recoveryPublicKeyJwk } = body
  await admin.recovery.enable({ params: { orgId }, body })
  const after = await createEnvironment(admin, { ...place, slug: 'staging', recoveryPublicKeyJwk }, own.publicKeyJwk)

  const target = { targetPublicKeyJwk: newcomer.publicKeyJwk, targetType: 'user', targetId: newcomer.id } as const
  const { request } = await admin.recoveryRequests.open({ params: { orgId }, body: target })
  const params = { orgId, recoveryRequestId: request.id }
  const shares: Uint8Array[] = []
  for (const custodian of [custodians[4], custodians[0], custodians[2]] as typeof custodians) {
    const { share } = await custodian.client.recovery.share({ params: { orgId } })
    const { shareIndex, threshold } = share
    shares.push(await unwrapKey(share.wrappedShare, custodian.privateKey))
    const at = { orgId, shareIndex, threshold }
    const contributedShare = await rewrapShare(
      share.wrappedShare,
      custodian.privateKey,
      request.targetPublicKeyJwk,
      recoveryPublicKeyJwk,
      at,
    )
    await custodian.client.recoveryRequests.contribute({ params, body: { shareIndex, contributedShare } })
  }
  const found = await newcomer.client.recoveryRequests.get({ params })
  const { recoveryKey } = await gatherRecoveryKey({ orgId, ...found }, newcomer.privateKey, recoveryPublicKeyJwk)
  const chosen = { orgId, targetPublicKeyJwk: newcomer.publicKeyJwk }
  const { grants, unreadable } = await recoverKeys(newcomer.client, chosen, recoveryKey)
  expect([grants.length, unreadable]).toEqual([2, []])
  const principal = { principalType: 'user', principalId: newcomer.id } as const
  await newcomer.client.recoveryRequests.complete({ params, body: { ...principal, grants } })

  for (const { environment, key } of [before, after]) {
    const opened = await environmentKey(newcomer.client, { orgId, envId: environment.id }, newcomer.privateKey)
    expect(opened.bytes).toEqual(key.bytes)
  }
  const read = { as: newcomer.as, params: { orgId, envId: before.environment.id } }
  expect((await world.call(secrets.list, read)).status).toBe(200)
  const needles = [
    needle('value', canary),
    needle('key of an environment', before.key.bytes),
    needle('key of a new environment', after.key.bytes),
    needle('private key', await exportPrivateKey(newcomer.privateKey)),
    // A share begins after its 64-byte signature, and its last byte is its number.
    ...shares.map((share) => needle('share', share.slice(64, -1))),
  ]
  const places = [
    ...(await tableDump(world)),
    ...world.answers.map((text, index) => ({ where: `answer ${index}`, text })),
    { where: 'the log', text: world.log.join('') },
  ]
  expect(places.length).toBeGreaterThan(40)
  expect(findings(needles, places)).toEqual([])
  expect(findings([needle('id', request.id)], places).length).toBeGreaterThan(2)
})

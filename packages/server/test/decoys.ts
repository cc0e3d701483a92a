import { audit } from '@skerry/contract/audit/endpoints'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { afterAll, beforeAll } from 'vitest'
import { recordTrips } from '../src/features/honey-tokens/trips.ts'
import { newId, sha256 } from '../src/kernel/context.ts'
import { bearerSecret, publicKeyJwk } from './blobs.ts'
import { signUp, type Tenant } from './tenant.ts'
import { openWorld, type World } from './world.ts'

interface Scene {
  world: World
  tenant: Tenant
}

/** Sets up a suite on decoys: a world with one organization, and functions that register, use and look up decoys. */
export function decoys() {
  const scene = {} as Scene
  beforeAll(async () => {
    scene.world = await openWorld()
    scene.tenant = await signUp(scene.world)
  })
  afterAll(() => scene.world.close())

  const org = () => ({ orgId: scene.tenant.orgId })
  const as = () => ({ as: scene.tenant.admin.as })
  const made = () => {
    const tokenId = newId('serviceToken')
    const bearer = `${tokenId}_${bearerSecret()}`
    return { tokenId, tokenHash: sha256(bearer), bearer }
  }
  const register = (body: Record<string, unknown>, by = scene.tenant) =>
    scene.world.call(honeyTokens.create, { as: by.admin.as, params: { orgId: by.orgId }, body })
  const registerToken = ({ tokenId, tokenHash }: { tokenId: string; tokenHash: string }, by = scene.tenant) => {
    const body = { name: 'a token', tokenId, tokenHash, publicKeyJwk: publicKeyJwk() }
    return scene.world.call(tokens.create, { as: by.admin.as, params: { orgId: by.orgId }, body })
  }

  const newDecoy = async (placement?: string) => {
    const { bearer, ...ids } = made()
    const answer = await register({ ...ids, ...(placement === undefined ? {} : { placement }) })
    if (answer.status !== 201) throw new Error(answer.error?.message)
    return { ...ids, bearer, id: answer.body.honeyToken.id }
  }
  const present = (bearer: string, headers: Record<string, string> = {}) =>
    scene.world.call(me.get, { as: `Bearer ${bearer}`, headers })
  const shown = async ({ id }: { id: string }) => {
    const { body } = await scene.world.call(honeyTokens.list, { ...as(), params: org() })
    return body.honeyTokens.find((one) => one.id === id)
  }
  const recorded = async (decoy: { id: string }) => {
    await recordTrips(scene.world.server.context)
    return shown(decoy)
  }
  const trail = async ({ id }: { id: string }) => {
    const query = { action: 'honey_token.tripped', resourceId: id }
    return (await scene.world.call(audit.list, { ...as(), params: org(), query })).body.entries
  }
  return { scene, org, as, made, register, registerToken, newDecoy, present, shown, recorded, trail }
}

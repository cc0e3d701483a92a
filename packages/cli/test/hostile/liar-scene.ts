import { afterAll, afterEach } from 'vitest'
import { newKeyHolder, openPeopleServer } from '../people.ts'
import { openLiar } from './liar.ts'

/**
 * Opens a server that lies when a test says so, until the end of the suite. Alice uses it with an unlocked keyring, and
 * has the environment shop/development in an organization of this name.
 */
export async function openLiedTo(organization: string) {
  const server = await openPeopleServer()
  const liar = await openLiar(server.url)
  const alice = await newKeyHolder(server, `${organization.toLowerCase()}@example.com`, liar.url)
  afterEach(() => liar.repent())
  afterAll(async () => {
    await alice.ok('skerry keys lock')
    await alice.remove()
    await liar.close()
    await server.close()
  })
  await alice.ok(`skerry keys unlock && skerry org create "${organization}" && skerry init --yes --env development`)
  const publicKeyJwk: string = JSON.parse(await alice.ok('skerry keys fingerprint --json')).publicKeyJwk
  return { liar, alice, publicKeyJwk }
}

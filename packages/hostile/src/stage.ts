import { parsePinnedToken } from '@skerry/crypto/directory/pinned-token'
import { type DirectorySigner, signerOfPerson } from '@skerry/crypto/directory/signing'
import { openWithPassphrase } from '@skerry/crypto/keyring'
import type { PrivateKey } from '@skerry/crypto/keys'
import { type Client, createClient } from '@skerry/sdk/client'
import { type Json, type Liar, openLiar } from '../../cli/test/hostile/liar.ts'
import { newKeyHolder, type PersonMachine, passphrase } from '../../cli/test/people.ts'
import { type Honest, openHonest } from './honest.ts'

/**
 * An organization with a signed directory on an honest server, and the hostile server in front of it. The hostile server
 * knows everything that the honest one stores. It has no key of a client, except where an attack says so.
 */
export interface Stage {
  honest: Honest
  liar: Liar
  orgId: string
  /** The founder, who signs the directory. Her machine talks to the hostile server. */
  alice: PersonMachine
  /** Bob’s id. His key is in the directory. */
  bob: string
  /** The text of the project file, with the pin. */
  projectFile: string
  /** Alice’s client of the honest server. */
  client: Client
  /** Alice’s private key and the key with which she signs, for attacks of a signer. */
  person: PrivateKey
  signer: DirectorySigner
  /** A token that is bound to `shop/development`, with and without its pin. */
  token: { id: string; plain: string; pinned: string }
  /** The values of the secret `A` in `shop/development`, newest first. Those after the re-key open with the present key. */
  ciphertexts: readonly string[]
  /** The answers of the honest server to the token: now, and before the values changed and the key was replaced. */
  now: Json
  earlier: Json
  close(): Promise<void>
}

export const aliceEmail = 'alice@example.com'
export const honestValue = 'honest'
const earlierValue = 'earlier'
export const forgedValue = 'forged'

export async function openStage(): Promise<Stage> {
  const honest = await openHonest()
  const liar = await openLiar(honest.url)
  const alice = await newKeyHolder(honest, aliceEmail, liar.url)
  await alice.ok('skerry keys unlock && skerry org create Hostile && skerry init --yes --env development')
  await alice.ok('skerry env create production && skerry group create shared')
  await alice.ok('skerry env create development --group shared && skerry compose set shared')
  await alice.ok(
    `echo -n ${earlierValue} | skerry secrets set A && echo -n common | skerry secrets set B --group shared`,
  )
  await alice.ok('skerry trust init --yes')
  const pinned = (await alice.ok('skerry token create ci --app shop --env development')).trim()
  const [plain = ''] = pinned.split('.')
  const earlier = await answerTo(honest.url, pinned)
  await alice.ok(`skerry env rekey development --yes && echo -n ${earlierValue} again | skerry secrets set A`)
  await alice.ok(`echo -n ${honestValue} | skerry secrets set A`)
  await alice.ok('skerry invite create bob@example.com')
  const bob = await newKeyHolder(honest, 'bob@example.com')
  await bob.ok('skerry invite accept')
  await alice.ok('skerry grant bob@example.com --app shop --env development --reader bob@example.com')
  const { client, person, orgId } = await aliceAt(honest, alice)
  const now = await answerTo(honest.url, pinned)
  const params = { orgId, envId: now.scope.envId, name: 'A' }
  const { versions } = await client.secrets.versions({ params })
  return {
    honest,
    liar,
    orgId,
    alice,
    bob: JSON.parse(await bob.ok('skerry whoami --json')).principal.id,
    projectFile: await alice.read('skerry.json'),
    client,
    person,
    signer: await signerOfPerson(person),
    token: { id: plain.split('_').slice(0, 2).join('_'), plain, pinned },
    ciphertexts: versions.map(({ ciphertext }) => ciphertext),
    now,
    earlier,
    close: async () => {
      await alice.ok('skerry keys lock')
      await Promise.all([alice.remove(), bob.remove()])
      await liar.close()
      await honest.close()
    },
  }
}

/** Asks the honest server as the token does, also for the directory. */
async function answerTo(url: string, pinned: string): Promise<Json> {
  const { bearer, pin } = await parsePinnedToken(pinned)
  const answer = await fetch(`${url}/v1/resolve?proof=1&root=${pin.root}`, {
    headers: { authorization: `Bearer ${bearer}` },
  })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

async function aliceAt({ url }: Honest, { env }: PersonMachine) {
  const client = createClient({ baseUrl: url, credential: { bearer: env.SKERRY_TOKEN as string } })
  const [{ principal, orgs }, keys] = await Promise.all([client.me.get(), client.me.getKeys()])
  const sealed = keys.encryptedPrivateKey as string
  const person = await openWithPassphrase(sealed, passphrase, principal.id, { extractable: true })
  return { client, person, orgId: orgs[0]!.id }
}

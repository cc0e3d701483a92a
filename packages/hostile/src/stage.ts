import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  /** A folder for what machines have stored. */
  scratch: string
  /** Each client has a hostile server of its own, so that clients run at the same time. */
  liar: Liar
  orgId: string
  /** Bob’s id. His key is in the directory. He was a signer for a while. */
  bob: string
  /** The text of the project file, with the pin of the first root. */
  projectFile: string
  /** The keyrings of Alice and Bob, as the server stores them. */
  keyrings: { alice: Json; bob: Json }
  /** Alice’s client of the honest server. */
  client: Client
  /** The keys with which Alice and Bob sign, for attacks of a signer and of a former signer. */
  signer: DirectorySigner
  formerSigner: DirectorySigner
  /** All roots, oldest first: the second one has Bob as a signer. */
  roots: readonly string[]
  /** A token that is bound to `shop/development`, with and without the pin of the newest root. */
  token: { id: string; plain: string; pinned: string }
  /** The values of the secret `A` in `shop/development`, newest first. Those after the re-key open with the present key. */
  ciphertexts: readonly string[]
  /** The answers of the honest server to the token: now, and before the values changed and the key was replaced. */
  now: Json
  earlier: Json
  /** The same for the branch `pr-1`: now, and before it was deleted and made again. */
  branchNow: Json
  branchEarlier: Json
  /** The pin in the mail that a person acts on. */
  mailed: { pin: string }
  close(): Promise<void>
}

export const aliceEmail = 'alice@example.com'
export const bobEmail = 'bob@example.com'
export const honestValue = 'honest'
export const branchValue = 'branched'
const earlierValue = 'earlier'
export const forgedValue = 'forged'

export async function openStage(): Promise<Stage> {
  const honest = await openHonest()
  const liar = await openLiar(honest.url)
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-hostile-memory-'))
  const alice = await newKeyHolder(honest, aliceEmail, liar.url)
  const bob = await newKeyHolder(honest, bobEmail)
  await foundOrganization(alice, bob)
  await addFormerSigner(alice, bob)
  const pinned = (await alice.ok('skerry token create ci --app shop --env development')).trim()
  const [plain = ''] = pinned.split('.')
  const earlier = await answerTo(honest.url, pinned)
  await alice.ok(`skerry env rekey development --yes && echo -n ${earlierValue} again | skerry secrets set A`)
  await alice.ok(`echo -n ${honestValue} | skerry secrets set A`)
  const branchEarlier = await newBranch(honest.url, pinned, alice, 'replaced')
  await alice.ok('skerry branch rm pr-1 --env development --yes')
  const branchNow = await newBranch(honest.url, pinned, alice, branchValue)
  const { client, orgId, person, keyring } = await personAt(honest, alice)
  const former = await personAt(honest, bob)
  const now = await answerTo(honest.url, pinned)
  const params = { orgId, envId: now.scope.envId, name: 'A' }
  const { versions } = await client.secrets.versions({ params })
  const { directory } = await client.directory.get({ params: { orgId } })
  return {
    honest,
    scratch,
    liar,
    orgId,
    bob: former.id,
    projectFile: await alice.read('skerry.json'),
    keyrings: { alice: keyring, bob: former.keyring },
    client,
    signer: await signerOfPerson(person),
    formerSigner: await signerOfPerson(former.person),
    roots: directory!.roots,
    token: { id: plain.split('_').slice(0, 2).join('_'), plain, pinned },
    ciphertexts: versions.map(({ ciphertext }) => ciphertext),
    now,
    earlier,
    branchNow,
    branchEarlier,
    mailed: { pin: '' },
    close: async () => {
      await alice.ok('skerry keys lock')
      await Promise.all([alice.remove(), bob.remove(), rm(scratch, { recursive: true, force: true })])
      await liar.close()
      await honest.close()
    },
  }
}

/** An application with four environments, a group, a managed key and a recovery key, all of them signed. */
async function foundOrganization(alice: PersonMachine, bob: PersonMachine): Promise<void> {
  await alice.ok('skerry keys unlock && skerry org create Hostile && skerry init --yes --env development')
  await alice.ok('skerry env create production && skerry env create staging && skerry env create spare')
  await alice.ok('skerry group create shared')
  await alice.ok('skerry env create development --group shared && skerry compose set shared')
  await alice.ok(
    `echo -n ${earlierValue} | skerry secrets set A && echo -n common | skerry secrets set B --group shared`,
  )
  await alice.ok(`skerry kms create billing && skerry invite create ${bobEmail}`)
  await bob.ok('skerry invite accept')
  await alice.ok(`skerry grant ${bobEmail} --app shop --env staging --reader ${bobEmail}`)
  await alice.ok(`skerry recovery setup --threshold 2 --custodian ${aliceEmail} --custodian ${bobEmail} --yes`)
  await alice.ok('skerry trust init --yes')
}

/** Root 2 has two signers, and root 3 has one again. */
async function addFormerSigner(alice: PersonMachine, bob: PersonMachine): Promise<void> {
  const offer = (await bob.ok('skerry trust signers offer')).trim()
  await alice.ok(`skerry trust signers add ${bobEmail} --key ${offer} --yes`)
  await alice.ok(`skerry trust signers rm ${bobEmail} --yes`)
}

async function newBranch(url: string, pinned: string, alice: PersonMachine, value: string): Promise<Json> {
  await alice.ok('skerry branch create pr-1 --env development')
  await alice.ok(`echo -n ${value} | skerry secrets set A --env development --branch pr-1`)
  return answerTo(url, pinned, '&branch=pr-1')
}

/** Asks the honest server as the token does, also for the directory from the root of its pin. */
async function answerTo(url: string, pinned: string, more = ''): Promise<Json> {
  const { bearer, pin } = await parsePinnedToken(pinned)
  const headers = { authorization: `Bearer ${bearer}` }
  const answer = await fetch(`${url}/v1/resolve?proof=1&root=${pin.root}${more}`, { headers })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

/** A person's own view of the honest server. */
async function personAt(
  { url }: Honest,
  { env }: PersonMachine,
): Promise<{ client: Client; id: string; orgId: string; person: PrivateKey; keyring: Json }> {
  const client = createClient({ baseUrl: url, credential: { bearer: env.SKERRY_TOKEN as string } })
  const [{ principal, orgs }, keyring] = await Promise.all([client.me.get(), client.me.getKeys()])
  const sealed = keyring.encryptedPrivateKey as string
  const person = await openWithPassphrase(sealed, passphrase, principal.id, { extractable: true })
  return { client, id: principal.id, orgId: orgs[0]!.id, person, keyring }
}

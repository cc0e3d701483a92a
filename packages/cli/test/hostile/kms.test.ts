import { generateKeyPair } from '@skerry/crypto/keys'
import { newSealingMaterial } from '@skerry/crypto/kms'
import { newSigningMaterial } from '@skerry/crypto/kms-sign'
import { parseToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Machine, signedUp } from '../machine.ts'
import { openServer, type Server } from '../server.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A malicious server shows its own key in place of a managed key.

let server: Server
let liar: Liar
let machine: Machine
beforeAll(async () => {
  server = await openServer()
  liar = await openLiar(server.url)
})
beforeEach(async () => {
  machine = await signedUp(liar.url, 'Lied To About Keys')
})
afterEach(async () => {
  liar.repent()
  await machine.remove()
})
afterAll(async () => {
  await liar.close()
  await server.close()
})

const ok = async (line: string) => {
  const { code, stdout, stderr } = await machine.shell(line)
  expect(code, stderr).toBe(0)
  return stdout
}
const refused = async (line: string) => {
  const { code, stdout, stderr } = await machine.shell(line)
  expect([code, stdout], stderr).toEqual([3, ''])
  return stderr
}

/** Wraps bytes to the public key of the token, as every server can. */
async function wrappedBy(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const made = await ok('skerry token create mine --admin')
  const { publicKeyJwk } = await parseToken(made.trim())
  machine.env.SKERRY_TOKEN = made.trim()
  return wrapKey(bytes, publicKeyJwk)
}

it('a key that the server invented in place of a used version is not used to encrypt', async () => {
  const wrappedKey = await wrappedBy(newSealingMaterial())
  await ok('skerry kms create billing')
  liar.lie(/\/key$/, (body) => ({ ...body, grants: [{ version: 1, wrappedKey }] }))
  const told = await refused('echo secret | skerry kms encrypt billing')
  expect(told).toContain('version 1 of billing is a different key than before')
  expect(told).toContain('skerry kms trust billing')
})

it('a managed key whose current version goes back is not used to encrypt', async () => {
  await ok('skerry kms create billing && skerry kms rotate billing --yes')
  liar.lie(/\/key$/, (body) => ({ ...body, currentVersion: 1 }))
  expect(await refused('echo secret | skerry kms encrypt billing')).toContain('went back from 2 to 1')
})

it('another key under a known name is not used, until a person accepts it', async () => {
  await ok('skerry kms create billing && skerry kms create other')
  liar.lie(/\/kms\/keys\?/, (body) => ({
    keys: body.keys.filter((one: Json) => one.name === 'other').map((one: Json) => ({ ...one, name: 'billing' })),
    nextCursor: null,
  }))
  expect(await refused('echo secret | skerry kms encrypt billing')).toContain('billing is a different key than before')
  await ok('skerry kms trust billing --yes && echo secret | skerry kms encrypt billing')
})

it('another managed key is not used if its id is the name of the known key', async () => {
  await ok('skerry kms create billing && skerry kms create other')
  liar.lie(/\/kms\/keys\?/, (body) => {
    const other = body.keys.find((one: Json) => one.name === 'other')
    return { ...body, keys: [{ ...other, id: 'billing' }, ...body.keys] }
  })
  const sealed = await ok('echo secret | skerry kms encrypt billing')
  const { id } = liar.heard(/\/kms\/keys\?/).keys.find((one: Json) => one.name === 'billing')
  expect(sealed).toContain(id)
})

it('another public key for a known version is refused by skerry kms verify', async () => {
  await ok('skerry kms create releases --spec ecdsa-p256-sha256')
  await ok('echo message > message && skerry kms sign releases --file message --out signature')
  await ok('skerry kms verify signature --file message')
  const { publicKeyJwk } = await newSigningMaterial('ecdsa-p256-sha256')
  const elsewhere = [publicKeyJwk, (await generateKeyPair()).publicKeyJwk]
  for (const other of elsewhere) {
    liar.repent()
    liar.lie(/\/public$/, (body) => ({ ...body, keys: [{ version: 1, publicKeyJwk: other }] }))
    expect(await refused('skerry kms verify signature --file message')).toContain('is a different key than before')
  }
})

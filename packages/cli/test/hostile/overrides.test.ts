import { encodeUtf8 } from '@skerry/crypto/base64url'
import { formatBlob } from '@skerry/crypto/blob'
import { importAesKey, sealGcm } from '@skerry/crypto/gcm'
import { generateKeyPair } from '@skerry/crypto/keys'
import { newDek } from '@skerry/crypto/secret'
import { wrapKey, wrapToSelf } from '@skerry/crypto/wrap'
import { describe, expect, it, vi } from 'vitest'
import type { Json } from './liar.ts'
import { openLiedTo } from './liar-scene.ts'

// A malicious server leaves out personal overrides, sends earlier ones, swaps them, or makes its own.

vi.setConfig({ testTimeout: 240_000 })

const { liar, alice, publicKeyJwk } = await openLiedTo('Overrides')
let count = 0

const own = /\/overrides$/
const keep = (env: string, name: string, value: string) =>
  alice.ok(`echo -n ${value} | skerry secrets override ${name} --env ${env}`)
const run = (env: string, variables: Record<string, string> = {}) =>
  alice.shell(`skerry run --env ${env} -- sh -c 'echo "$A"'`, { env: variables })
const missing = 'your personal override of A is missing'
const strict = { SKERRY_STRICT: '1' }
const answer = (rewrite: (rows: Json[]) => Json[]) =>
  liar.lie(own, (body, method) => (method === 'GET' ? { overrides: rewrite(body.overrides) } : body))

/** Makes an environment for one test, with the shared value `shared` of A and the override `mine`. */
async function ran(): Promise<string> {
  const env = `env-${++count}`
  await alice.ok(`skerry env create ${env} && echo -n shared | skerry secrets set A --env ${env}`)
  await keep(env, 'A', 'mine')
  expect((await run(env)).stdout).toBe('mine\n')
  return env
}

describe('a malicious server', () => {
  it('that leaves out an override causes a warning at every run until the person accepts the loss', async () => {
    const env = await ran()
    answer(() => [])
    const warned = { code: 0, stdout: 'shared\n', stderr: expect.stringContaining(missing) }
    for (let i = 0; i < 3; i++) expect(await run(env)).toMatchObject(warned)
    expect((await alice.shell(`skerry secrets override A --remove --env ${env}`)).code).not.toBe(0)
    expect((await run(env)).stderr).toBe('')
  })

  it('that leaves out an override is refused in strict mode until the person accepts the loss', async () => {
    const env = await ran()
    answer(() => [])
    for (let i = 0; i < 2; i++)
      expect(await run(env, strict)).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining(missing) })
    expect((await alice.shell(`skerry env trust ${env} --yes`)).stderr).toContain(missing)
    expect(await run(env, strict)).toMatchObject({ code: 0, stdout: 'shared\n' })
  })

  it('that sends an earlier revision of an override causes a warning', async () => {
    const env = await ran()
    const [before] = liar.heard(own).overrides
    await keep(env, 'A', 'newer')
    answer((rows) => rows.map((row) => ({ ...row, wrappedKey: before.wrappedKey, ciphertext: before.ciphertext })))
    const old = 'the server returned an earlier personal override of A'
    expect(await run(env, strict)).toMatchObject({ code: 3, stderr: expect.stringContaining(old) })
    expect(await run(env)).toMatchObject({ code: 0, stdout: 'mine\n', stderr: expect.stringContaining(old) })
  })

  it('that sends an override of another environment is refused', async () => {
    const [env, other] = [await ran(), await ran()]
    expect((await run(other)).stdout).toBe('mine\n')
    const rows = liar.heard(own).overrides
    answer(() => rows)
    expect(await run(env)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('your personal override cannot be decrypted'),
    })
    expect((await alice.shell(`skerry run --no-overrides --env ${env} -- sh -c 'echo "$A"'`)).stdout).toBe('shared\n')
  })

  it('that alters an override stops the run with its id, blocks no other one, and the id removes it', async () => {
    const env = await ran()
    answer((rows) => rows.map((row) => ({ ...row, ciphertext: row.ciphertext.replace(/.{4}$/, 'AAAA') })))
    const refused = await run(env)
    const id = /skerry secrets override (ovr_\w+) --remove/.exec(refused.stderr)?.[1] as string
    expect([refused.code, id]).toEqual([1, expect.any(String)])
    await keep(env, 'B', 'another')
    expect((await alice.shell(`skerry secrets overrides --env ${env}`)).stderr).toContain(
      `the override ${id} does not open`,
    )
    expect((await alice.shell(`skerry secrets override ${id} --remove --env ${env}`)).stderr).toContain(
      `removed the override ${id}`,
    )
    liar.repent()
    const left = JSON.parse(await alice.ok(`skerry secrets overrides --json --env ${env}`))
    expect([left.overrides.map(({ name }: Json) => name), left.unreadable]).toEqual([['B'], []])
  })

  it('that makes an override for the person’s public key is refused', async () => {
    const env = await ran()
    const [row] = liar.heard(own).overrides
    const { user, orgs } = JSON.parse(await alice.ok('skerry whoami --json'))
    // Everything that the server knows: the ids, the names, and the public key.
    const bytes = newDek()
    const aad = encodeUtf8(`skerry-override/v1/${orgs[0].id}/${row.environmentId}/${user.id}`)
    const sealed = await sealGcm(await importAesKey(bytes), encodeUtf8('9\nA\nevil'), aad)
    const ciphertext = formatBlob('so1', [sealed.iv, sealed.ciphertext])
    const { privateKey } = await generateKeyPair()
    for (const wrappedKey of [await wrapKey(bytes, publicKeyJwk), await wrapToSelf(bytes, privateKey)]) {
      answer(() => [{ ...row, ciphertext, wrappedKey }])
      const stderr = expect.stringContaining('your personal override cannot be decrypted')
      expect(await run(env)).toMatchObject({ code: 1, stdout: '', stderr })
    }
  })
})

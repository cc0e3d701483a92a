import { describe, expect, test } from 'vitest'
import { day, ids, keyOf, kidOf, org, otherHash, start } from '../../test/directory-scene.ts'
import { decodeBase64url, decodeUtf8, encodeBase64url, encodeUtf8 } from '../base64url.ts'
import { type BranchManifest, makeBranchManifest, openBranchManifest } from './branch-manifest.ts'
import {
  type JoiningInvitation,
  joiningLifetimeSeconds,
  makeAnswer,
  makeInvitation,
  newJoiningCode,
  openAnswer,
  openInvitation,
} from './joining.ts'

const invitation: JoiningInvitation = {
  org,
  pin: { root: otherHash, leastHead: 3 },
  email: 'bob@example.com',
  role: 'member',
  issuedAt: start,
}
const answer = { email: 'bob@example.com', kid: kidOf(2) }

/** The text with another body, and the code of the old one. */
function changed(text: string, change: (body: Record<string, unknown>) => unknown): string {
  const [prefix, body = '', mac] = text.split('.')
  const parsed = JSON.parse(decodeUtf8(decodeBase64url(body)))
  return `${prefix}.${encodeBase64url(encodeUtf8(JSON.stringify(change(parsed))))}.${mac}`
}

describe('a joining code', () => {
  test('shows pin, organization, address and role to the invited, and the new key to the inviter', async () => {
    const code = await newJoiningCode()
    expect(await openInvitation(code, await makeInvitation(code, invitation), start)).toEqual(invitation)
    expect(await openAnswer(code, await makeAnswer(code, answer), invitation, start)).toEqual(answer)
  })

  test('is refused if it is mistyped or another one', async () => {
    const [code, other] = [await newJoiningCode(), await newJoiningCode()]
    const [one, two] = [await makeInvitation(code, invitation), await makeAnswer(code, answer)]
    await expect(openInvitation(other, one, start)).rejects.toMatchObject({ code: 'not_authentic' })
    await expect(openAnswer(other, two, invitation, start)).rejects.toMatchObject({ code: 'not_authentic' })
    await expect(openInvitation('x', one, start)).rejects.toMatchObject({ code: 'malformed_code' })
  })

  test('authenticates each direction with a key of its own', async () => {
    const code = await newJoiningCode()
    const one = await makeInvitation(code, invitation)
    const two = await makeAnswer(code, answer)
    await expect(openAnswer(code, one, invitation, start)).rejects.toMatchObject({ code: 'directory_malformed' })
    await expect(openInvitation(code, two, start)).rejects.toMatchObject({ code: 'directory_malformed' })
    await expect(openAnswer(code, one.replace('ji1', 'ja1'), invitation, start)).rejects.toMatchObject({
      code: 'not_authentic',
    })
    await expect(openInvitation(code, two.replace('ja1', 'ji1'), start)).rejects.toMatchObject({
      code: 'not_authentic',
    })
  })

  test('vouches for every member', async () => {
    const code = await newJoiningCode()
    const text = await makeInvitation(code, invitation)
    for (const [member, value] of Object.entries({
      v: 2,
      org: 'org_1111111111111111111111',
      pin: kidOf(1),
      email: 'eve@example.com',
      role: 'owner',
      issuedAt: start + 1,
    }))
      await expect(
        openInvitation(
          code,
          changed(text, (body) => ({ ...body, [member]: value })),
          start,
        ),
        member,
      ).rejects.toMatchObject({ code: 'not_authentic' })
    const other = changed(await makeAnswer(code, answer), (body) => ({ ...body, kid: kidOf(3) }))
    await expect(openAnswer(code, other, invitation, start)).rejects.toMatchObject({ code: 'not_authentic' })
  })

  test('works for 7 days', async () => {
    const code = await newJoiningCode()
    const [one, two] = [await makeInvitation(code, invitation), await makeAnswer(code, answer)]
    const end = start + joiningLifetimeSeconds
    expect(joiningLifetimeSeconds).toBe(7 * day)
    expect(await openInvitation(code, one, end)).toBeDefined()
    expect(await openAnswer(code, two, invitation, end)).toBeDefined()
    for (const now of [end + 1, start - 601, Number.NaN]) {
      await expect(openInvitation(code, one, now)).rejects.toMatchObject({ code: 'authentic_expired' })
      await expect(openAnswer(code, two, invitation, now)).rejects.toMatchObject({ code: 'authentic_expired' })
    }
  })

  test('is for one address', async () => {
    const code = await newJoiningCode()
    const text = await makeAnswer(code, { ...answer, email: 'eve@example.com' })
    await expect(openAnswer(code, text, invitation, start)).rejects.toMatchObject({
      code: 'not_authentic',
      expected: 'bob@example.com',
      came: 'eve@example.com',
    })
  })

  test('makes nothing of malformed members, and opens no malformed text', async () => {
    const code = await newJoiningCode()
    const malformed = { code: 'directory_malformed' }
    for (const change of [{ org: 'x' }, { email: 'x' }, { role: 'king' }, { issuedAt: -1 }])
      await expect(makeInvitation(code, { ...invitation, ...change } as JoiningInvitation)).rejects.toMatchObject(
        malformed,
      )
    await expect(makeInvitation(code, { ...invitation, pin: { root: 'x', leastHead: 1 } })).rejects.toMatchObject({
      code: 'malformed_pin',
    })
    await expect(makeAnswer(code, { ...answer, kid: 'x' })).rejects.toMatchObject(malformed)
    const text = await makeInvitation(code, invitation)
    for (const other of ['', 'ji1', `${text}.x`, `${text}A`, text.replace('ji1.', 'ji1..'), 'x'.repeat(10_000)])
      await expect(openInvitation(code, other, start), other.slice(0, 20)).rejects.toMatchObject(malformed)
  })
})

describe('the manifest of a branch', () => {
  const manifest: BranchManifest = {
    id: ids.shared,
    parent: ids.production,
    name: 'fix-login',
    key: otherHash,
    expiresAt: start + day,
  }
  const open = (text: string, change: object = {}, now = start, key = keyOf(6)) =>
    openBranchManifest(key, text, { ...manifest, ...change }, now)

  test('opens with the key of the parent', async () => {
    expect(await open(await makeBranchManifest(keyOf(6), manifest))).toEqual(manifest)
    const endless = { ...manifest, expiresAt: null }
    expect(await open(await makeBranchManifest(keyOf(6), endless), {}, 2 * start)).toEqual(endless)
  })

  test('is refused with another key, parent or name, once expired, and if a member was changed', async () => {
    const text = await makeBranchManifest(keyOf(6), manifest)
    await expect(open(text, {}, start, keyOf(7))).rejects.toMatchObject({ code: 'not_authentic' })
    await expect(open(text, { parent: ids.shared })).rejects.toMatchObject({ code: 'not_authentic' })
    await expect(open(text, { name: 'other' })).rejects.toMatchObject({ code: 'not_authentic' })
    for (const now of [start + day, Number.NaN])
      await expect(open(text, {}, now)).rejects.toMatchObject({ code: 'authentic_expired' })
    for (const change of [{ id: ids.production }, { key: kidOf(1) }, { expiresAt: null }, { v: 2 }, { more: 1 }])
      await expect(open(changed(text, (body) => ({ ...body, ...change })))).rejects.toMatchObject({
        code: 'not_authentic',
      })
  })

  test('is made of valid members alone', async () => {
    for (const change of [{ id: ids.ada }, { parent: 'x' }, { name: 'Fix' }, { key: 'x' }, { expiresAt: 0.5 }])
      await expect(makeBranchManifest(keyOf(6), { ...manifest, ...change })).rejects.toMatchObject({
        code: 'directory_malformed',
      })
    await expect(makeBranchManifest(new Uint8Array(31), manifest)).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})

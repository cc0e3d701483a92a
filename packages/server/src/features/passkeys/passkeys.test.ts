import { audit } from '@skerry/contract/audit/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { passkeys } from '@skerry/contract/passkeys/endpoints'
import { describe, expect, test } from 'vitest'
import { newPasskeyBody, sealedPrivateKey } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, newCliSession, newMember, newPerson } from '../../../test/tenant.ts'
import { newId } from '../../kernel/context.ts'

const { world, tenant } = await openTenant()

const enroll = ({ as }: Pick<Actor, 'as'>, more = {}) =>
  world.call(passkeys.create, { as, body: { ...newPasskeyBody(), ...more } })
const list = async ({ as }: Actor) => (await world.call(passkeys.list, { as })).body.passkeys
const remove = ({ as }: Actor, passkeyId: string) => world.call(passkeys.delete, { as, params: { passkeyId } })
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()

describe('enrolling', () => {
  test('stores what was sent, byte for byte, and shows it only to its person', async () => {
    const [person, other] = [await newPerson(world, 'stores@example.com'), await newPerson(world, 'other@example.com')]
    const body = newPasskeyBody()
    const { status, body: answer } = await enroll(person, body)
    expect(status).toBe(201)
    expect(answer.passkey).toEqual({ id: expect.stringMatching(/^psk_/), ...body, createdAt: expect.any(String) })
    expect(await list(person)).toEqual([answer.passkey])
    expect(await list(other)).toEqual([])
  })

  test('one credential twice is a conflict, but another person may enroll it', async () => {
    const person = await newPerson(world, 'twice@example.com')
    const { credentialId } = newPasskeyBody()
    await enroll(person, { credentialId })
    const { status, error } = await enroll(person, { credentialId, label: 'another' })
    expect([status, error?.message]).toEqual([409, 'body.credentialId: is already enrolled'])
    expect(await list(person)).toHaveLength(1)
    expect((await enroll(await newPerson(world, 'same@example.com'), { credentialId })).status).toBe(201)
  })

  test('an eleventh passkey is a conflict, until one is removed', async () => {
    const person = await newPerson(world, 'eleven@example.com')
    for (let count = 0; count < 10; count++) expect((await enroll(person)).status).toBe(201)
    const { status, error } = await enroll(person)
    expect([status, error?.code]).toEqual([409, 'conflict'])
    const [first] = await list(person)
    await remove(person, first?.id as string)
    expect((await enroll(person)).status).toBe(201)
    expect(await list(person)).toHaveLength(10)
  })

  test('twenty passkeys at once stores ten', async () => {
    const person = await newPerson(world, 'parallel@example.com')
    const answers = await Promise.all(Array.from({ length: 20 }, () => enroll(person)))
    expect(statuses(answers)).toEqual([...Array(10).fill(201), ...Array(10).fill(409)])
    expect(await list(person)).toHaveLength(10)
  })

  test('one credential ten times at once stores it once', async () => {
    const person = await newPerson(world, 'raced@example.com')
    const { credentialId } = newPasskeyBody()
    const answers = await Promise.all(Array.from({ length: 10 }, () => enroll(person, { credentialId })))
    expect(statuses(answers)).toEqual([201, ...Array(9).fill(409)])
  })

  test.each([
    ['encryptedPrivateKey', sealedPrivateKey()],
    ['encryptedPrivateKey', 'pkcs8'],
    ['credentialId', ''],
    ['credentialId', 'not base64url!'],
    ['prfInput', 'short'],
    ['label', 'two\nlines'],
  ])('with a malformed %s (%j) is refused, and the error names the field', async (field, value) => {
    const { status, error } = await enroll(await newPerson(world, 'malformed@example.com'), { [field]: value })
    expect([status, error?.message]).toEqual([400, expect.stringMatching(`^body.${field}: `)])
  })

  test('is allowed to people and CLI sessions, and not to a machine client or a service token', async () => {
    for (const actor of [tenant.admin, tenant.machine]) expect((await enroll(actor)).status).toBe(403)
    const session = await newCliSession(world, await newPerson(world, 'by-cli@example.com'))
    expect((await enroll(session)).status).toBe(201)
  })
})

describe('removing', () => {
  test('a passkey leaves the keys, and the audit log records it without secrets', async () => {
    const person = await newMember(world, tenant)
    const keys = (await world.call(me.getKeys, { as: person.as })).body
    const { passkey } = (await enroll(person, { label: 'desk' })).body
    expect((await remove(person, passkey.id)).status).toBe(200)
    expect(await list(person)).toEqual([])
    expect((await world.call(me.getKeys, { as: person.as })).body).toEqual(keys)
    const query = { resourceId: passkey.id }
    const trail = await world.call(audit.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })
    expect(trail.body.entries.map(({ action, metadata }) => [action, metadata])).toEqual([
      ['user.passkey_removed', { label: 'desk' }],
      ['user.passkey_enrolled', { label: 'desk' }],
    ])
  })

  test('another person’s passkey answers 404, exactly like an unknown one, and leaves it', async () => {
    const [person, other] = [await newPerson(world, 'mine@example.com'), await newMember(world, tenant, 'admin')]
    const { passkey } = (await enroll(person)).body
    const answers = [await remove(other, passkey.id), await remove(other, newId('passkey'))]
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    expect(answers[0]?.error).toEqual(answers[1]?.error)
    expect(await list(person)).toHaveLength(1)
    await remove(person, passkey.id)
    expect((await remove(person, passkey.id)).status).toBe(404)
  })
})

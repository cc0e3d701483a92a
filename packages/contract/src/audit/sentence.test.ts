import { describe, expect, it } from 'vitest'
import { auditActions } from '../actions.ts'
import { type ToldEntry, tellEntry } from './sentence.ts'
import { auditSentences } from './sentences.ts'

const id = (prefix: string, letter: string) => `${prefix}_${letter.repeat(22)}`
const [ada, env, token] = [id('usr', 'a'), id('env', 'e'), id('skt', 't')]
const names: Record<string, string> = {
  [id('org', 'o')]: 'Acme',
  [ada]: 'ada@example.com',
  [env]: 'shop/production',
  [token]: 'ci',
}
const tell = (entry: Partial<ToldEntry>) =>
  tellEntry(
    { action: '', actorType: 'user', actorId: ada, resourceType: '', resourceId: null, metadata: {}, ...entry },
    (one) => names[one],
  )

describe('a sentence', () => {
  it('names people, environments and secrets', () => {
    const metadata = { environmentId: env, name: 'DATABASE_URL', version: 4 }
    expect(tell({ action: 'secret.written', metadata })).toBe(
      'ada@example.com changed DATABASE_URL in shop/production (version 4)',
    )
    expect(tell({ action: 'key.granted', metadata: { environmentId: env, principalId: token } })).toBe(
      'ada@example.com gave ci access to shop/production',
    )
    expect(tell({ action: 'change_request.opened', metadata: { environmentId: env, action: 'rekey' } })).toBe(
      'ada@example.com proposed a change of the key in shop/production',
    )
    expect(tell({ action: 'env.rekeyed', resourceId: env, actorType: 'service_token', actorId: token })).toBe(
      'The token ci gave shop/production a new key',
    )
  })

  it('tells the version of a renamed secret, and that a restored value was sealed anew', () => {
    const metadata = { environmentId: env, name: 'NEW', formerName: 'OLD', version: 3 }
    expect(tell({ action: 'secret.renamed', metadata })).toBe(
      'ada@example.com renamed OLD to NEW in shop/production (version 3)',
    )
    const restored = { environmentId: env, name: 'NEW', version: 4, restoredFrom: 1 }
    const told = 'ada@example.com restored version 1 of NEW in shop/production (as version 4)'
    expect(tell({ action: 'secret.restored', metadata: restored })).toBe(told)
    const resealed = { ...restored, resealed: true }
    expect(tell({ action: 'secret.restored', metadata: resealed })).toBe(`${told}, sealed anew`)
  })

  it('names the rotator of the server, as an actor and as a holder of a key', () => {
    const metadata = { environmentId: env, name: 'DB_PASSWORD', version: 2 }
    expect(tell({ action: 'secret.written', actorType: 'rotator', actorId: id('org', 'o'), metadata })).toBe(
      'The server’s rotator changed DB_PASSWORD in shop/production (version 2)',
    )
    const granted = { environmentId: env, principalType: 'rotator', principalId: id('org', 'o') }
    expect(tell({ action: 'key.granted', metadata: granted })).toBe(
      'ada@example.com gave the server’s rotator access to shop/production',
    )
  })

  it('has words instead of ids for what has no name any more', () => {
    const metadata = { environmentId: id('env', 'x'), name: 'A', version: 1 }
    expect(tell({ action: 'secret.deleted', actorId: id('usr', 'x'), metadata })).toBe(
      'A former member deleted A in a deleted environment',
    )
    expect(tell({ action: 'member.removed', resourceType: 'user', resourceId: id('usr', 'x') })).toBe(
      'ada@example.com removed a former member from the organization',
    )
    expect(tell({ action: 'lease.expired', actorType: 'system', actorId: null, metadata: { targetId: null } })).toBe(
      'A lease on a deleted target expired, and its account is gone',
    )
    expect(tell({ action: 'constructor', metadata: {} })).toBe('ada@example.com: constructor')
  })

  it('keeps a name with braces or brackets as it is', () => {
    const metadata = { environmentId: env, name: '{actor} [x]', version: 2 }
    expect(tell({ action: 'app.updated', metadata })).toBe('ada@example.com renamed an application to {actor} [x]')
  })
})

it('every audit action has a sentence, which is complete without any name or field, and has no id', () => {
  expect(Object.keys(auditSentences).sort()).toEqual(Object.keys(auditActions).sort())
  for (const [action, { about }] of Object.entries(auditActions)) {
    const told = tell({ action, resourceType: about, resourceId: id('xyz', 'x'), actorId: id('usr', 'x') })
    expect(told, action).toMatch(/^[A-Z][^{}[\]]+$/)
    expect(told, action).not.toMatch(/_|undefined|null/)
  }
})

import type { AccountKind, RotationConfig } from '@skerry/contract/rotation/kinds'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/provider-error.ts'
import type { Account, RotationProvider } from '../../src/rotation/provider.ts'
import { loadRotation } from '../../src/rotation/registry.ts'
import { type TestOutbound, testOutbound } from '../outbound.ts'

/** A database with an account `app` whose password is `first-password`, and an admin that may change it. */
export interface Scene<K extends AccountKind> {
  target: Account<K>['target']
  config: RotationConfig<K>
  /** Everything that the server has stored about statements and accounts, to be searched for passwords. */
  seen?(): Promise<string>
  stop(): Promise<void>
}

/** The tests for every rotation adapter, on a real server. `more` adds tests for one adapter. */
export function rotationConformance<K extends AccountKind>(
  kind: K,
  skip: string | undefined,
  start: () => Promise<Scene<K>>,
  more: (use: { account(): Account<K>; adapter(): RotationProvider<K>; outbound(): TestOutbound }) => void = () => {},
): void {
  describe.skipIf(skip !== undefined)(`${kind} rotation${skip === undefined ? '' : ` (skipped: ${skip})`}`, () => {
    let scene: Scene<K>
    let adapter: RotationProvider<K>
    let outbound: TestOutbound
    beforeAll(async () => {
      scene = await start()
      outbound = testOutbound()
      adapter = await loadRotation(kind)
    })
    afterAll(() => scene?.stop())

    const account = (change: object = {}): Account<K> => {
      const config = { ...scene.config, ...change } as RotationConfig<K>
      return { target: scene.target, username: (config as { username: string }).username, config }
    }
    const reasonOf = (work: Promise<unknown>) =>
      work.then(
        () => 'nothing was refused',
        (error: unknown) => (error instanceof ProviderError ? error.reason : String(error)),
      )

    it('the adapter verifies an existing account, and reports a missing one', async () => {
      await adapter.verify(account(), outbound)
      expect(await reasonOf(adapter.verify(account({ username: 'nobody_here' }), outbound))).toBe('missing')
    })

    it('a changed password signs in at once, and the change can be repeated', async () => {
      expect(await adapter.signsIn(account(), 'first-password', outbound)).toBe(true)
      expect(await adapter.signsIn(account(), 'next-password', outbound)).toBe(false)
      await adapter.change(account(), 'next-password', 'first-password', outbound)
      await adapter.change(account(), 'next-password', 'first-password', outbound)
      expect(await adapter.signsIn(account(), 'next-password', outbound)).toBe(true)
    })

    it('an old password can be set again, and the new one then stops working', async () => {
      await adapter.change(account(), 'new-password', null, outbound)
      await adapter.change(account(), 'old-password', 'old-password', outbound)
      const both = ['old-password', 'new-password'].map((one) => adapter.signsIn(account(), one, outbound))
      expect(await Promise.all(both)).toEqual([true, false])
    })

    it('the server stores no password in plain text', async () => {
      await adapter.change(account(), 'a-canary-password', null, outbound)
      expect(await scene.seen?.()).not.toContain('a-canary-password')
    })

    it('the adapter creates no account, and never changes the admin’s own', async () => {
      expect(await reasonOf(adapter.change(account({ username: 'nobody_here' }), 'x', null, outbound))).not.toMatch(
        /^no/,
      )
      expect(await reasonOf(adapter.verify(account({ username: 'nobody_here' }), outbound))).toBe('missing')
      expect(await reasonOf(adapter.change(account({ username: 'skerry_admin' }), 'x', null, outbound))).toBe('invalid')
    })

    it('values that must not appear in a statement are refused before anything is sent', async () => {
      outbound.forget()
      for (const bad of [
        { username: `x'; DROP` },
        { username: 'x"y' },
        { statements: ['{{password}}'] },
        { statements: ['no placeholder'] },
      ])
        expect([bad, await reasonOf(adapter.change(account(bad), 'x', null, outbound))]).toEqual([bad, 'invalid'])
      expect(outbound.sent()).toBe(0)
    })

    it('an unreachable target is reported as unreachable, and not as a wrong password', async () => {
      const away = testOutbound()
      away.connect = () => Promise.reject(new ProviderError('unreachable', 'away'))
      expect(await reasonOf(adapter.signsIn(account(), 'old-password', away))).toBe('unreachable')
      expect(await reasonOf(adapter.change(account(), 'old-password', null, away))).toBe('unreachable')
    })

    more({ account, adapter: () => adapter, outbound: () => outbound })
  })
}

import { describe, expect, test } from 'vitest'
import { cpuMs } from '../test/cpu-ms.ts'
import { judgePassphrase } from './passphrase.ts'

describe('a passphrase', () => {
  test.each([
    'five random words of mine',
    'tracked-velvet-moon-lantern',
    'k9#Lw2pQz!7m',
    'vier völlig zufällige wörter',
  ])('that is hard to guess is accepted: %s', async (passphrase) => {
    expect(await judgePassphrase(passphrase)).toBeNull()
  })

  test.each([
    ['P@ssw0rd1234', 'this is similar to a commonly used password'],
    ['qwertyuiopas', 'this is similar to a commonly used password'],
    ['abcdefghijkl', 'common character sequences like "abc" are easy to guess'],
    ['letmein letmein letmein', 'repeated character patterns like "abcabcabc" are easy to guess'],
    ['summer2024summer', 'use less common words'],
    ['short', 'at least 12 characters'],
  ])('that is easy to guess is refused, with the reason: %s', async (passphrase, problem) => {
    expect(await judgePassphrase(passphrase)).toBe(problem)
  })

  test('made from the person’s own address is refused', async () => {
    const passphrase = 'zbigniewska.qorv 42'
    expect(await judgePassphrase(passphrase)).toBeNull()
    expect(await judgePassphrase(passphrase, ['zbigniewska.qorv'])).not.toBeNull()
  })

  test('of thousands of characters is judged within 5 seconds of processor time', async () => {
    expect(await judgePassphrase('ab'.repeat(20_000))).toBe('at least 5 different characters')
    expect(await cpuMs(() => judgePassphrase('correct horse '.repeat(5000)))).toBeLessThan(5000)
  })
})

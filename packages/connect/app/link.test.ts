import { expect, test } from 'vitest'
import { isSafeUrl, readFragment } from './link.ts'

const token = `vct_${'A'.repeat(43)}`
const thumbprint = 'k'.repeat(43)
const origin = 'https://executor.example.com'
const whole = `#t=${token}&x=${encodeURIComponent(origin)}&k=${thumbprint}`

test('a link carries a token, an executor and its key', () => {
  expect(readFragment(whole)).toEqual({ kind: 'link', token, executor: { origin, thumbprint } })
  const manage = `vmt_${'B'.repeat(43)}`
  expect(readFragment(`#t=${manage}`)).toEqual({ kind: 'link', token: manage, executor: null })
  expect(readFragment('')).toEqual({ kind: 'none' })
  expect(readFragment('#r=denied')).toEqual({ kind: 'return', outcome: 'denied' })
  expect(readFragment('#r=finish&f=flow-1')).toEqual({ kind: 'return', outcome: 'finish', flow: 'flow-1' })
  expect(readFragment('#r=finish')).toEqual({ kind: 'return', outcome: 'failed' })
  expect(readFragment('#r=%3Cb%3E')).toEqual({ kind: 'return', outcome: 'failed' })
})

test.each([
  `#t=${token}`,
  `#t=${token}&x=${origin}`,
  `#t=vct_short&x=${origin}&k=${thumbprint}`,
  `#t=${token}&x=${origin}/path&k=${thumbprint}`,
  `#t=${token}&x=http://executor.example.com&k=${thumbprint}`,
  `#t=${token}&x=https://a@executor.example.com&k=${thumbprint}`,
  `#t=${token}&x=javascript:alert(1)&k=${thumbprint}`,
  `#t=${token}&x=${origin}&k=short`,
  '#anything',
])('%s is an incomplete link', (hash) => {
  expect(readFragment(hash)).toEqual({ kind: 'broken' })
})

test.each([
  ['https://shop.example/login', true],
  ['http://localhost:4700/', true],
  ['http://[::1]:4700/', true],
  ['http://shop.example/', false],
  ['https://shop.example@evil.example/', false],
  ['javascript:alert(1)', false],
  ['//shop.example', false],
])('the page may open %s: %s', (url, isSafe) => {
  expect(isSafeUrl(url)).toBe(isSafe)
})

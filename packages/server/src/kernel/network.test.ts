import { expect, test } from 'vitest'
import { networkOf } from './network.ts'

test.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::7:0:0:1', '2001:db8:0:0::/64'],
  ['2001:db8:0:1::', '2001:db8:0:1::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
])('the address %s belongs to the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test.each(['192.0.2.1', '', 'usr_4fzzzxjylrxxxxxxxxxxxx', 'a@b.example', 'nonsense:with:colons', '1.2:3', '[x]:1'])(
  'the key %j is returned unchanged',
  (other) => {
    expect(networkOf(other)).toBe(other)
  },
)

test('IPv4 addresses on a dual-stack socket count as different callers, however they are written', () => {
  expect(networkOf('::ffff:192.0.2.1')).toBe(networkOf('::FFFF:c000:0201'))
  expect(networkOf('::ffff:192.0.2.1')).not.toBe(networkOf('::ffff:192.0.2.2'))
})

test.each([
  ['192.0.2.1:49152', '192.0.2.1'],
  ['[2001:db8:1:2::3]:49152', '2001:db8:1:2::3'],
  ['[2001:db8:1:2::3]', '2001:db8:1:2::3'],
  ['[::ffff:192.0.2.1]:49152', '::ffff:192.0.2.1'],
])('%s, as some proxies write it, counts as the caller %s, without the port', (written, address) => {
  expect(networkOf(written)).toBe(networkOf(address))
})

import { describe, expect, test } from 'vitest'
import { networksOf, specialKind } from './addresses.ts'

describe('the check for special addresses', () => {
  test.each([
    ['loopback', ['127.0.0.1', '127.255.255.255', '::1']],
    ['unspecified', ['0.0.0.0', '0.1.2.3', '::']],
    [
      'private',
      ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fc00::1', 'fd00:ec2::254'],
    ],
    ['link-local', ['169.254.169.254', 'fe80::1', 'febf::1', 'fe80::1%eth0', '2600::1%eth0', '168.63.129.16']],
    ['carrier-grade NAT', ['100.64.0.0', '100.100.100.200', '100.127.255.255']],
    ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1']],
    [
      'reserved',
      ['192.0.0.192', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '240.0.0.1', '255.255.255.255'],
    ],
    [
      'reserved',
      ['2001:db8::1', '2001:10::1', '2001:20::1', '3fff::1', '100::1', '5f00::1', 'fec0::1', '::7f00:1', '::2'],
    ],
    ['IPv4-mapped', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8']],
    ['NAT64', ['64:ff9b::10.0.0.1', '64:ff9b::808:808', '64:ff9b:1::1']],
    ['6to4', ['2002:7f00:1::1', '192.88.99.1']],
    ['Teredo', ['2001::1', '2001:0:7f00:1::']],
  ])('recognizes each special range: %s', (kind, addresses) => {
    expect(addresses.map((address) => [address, specialKind(address)])).toEqual(addresses.map((one) => [one, kind]))
  })

  test.each(['8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.1'])(
    'treats %s as public',
    (address) => expect(specialKind(address)).toBeUndefined(),
  )

  test.each([
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
  ])('treats %s as public', (address) => expect(specialKind(address)).toBeUndefined())

  test.each(['2600::1', '2a00:1450:4001:82a::200e', '2001:200::1', '2003::1', '3ffe::1', '2620:fe::fe'])(
    'treats %s as public',
    (address) => expect(specialKind(address)).toBeUndefined(),
  )

  test('treats text that is not an address as link-local, never as public', () => {
    for (const text of ['', 'localhost', '1.2.3', '0x7f.1', '1.2.3.4.5', ':::'])
      expect(specialKind(text)).toBe('link-local')
  })
})

describe('a list of networks', () => {
  const networks = networksOf(['10.1.0.0/16', '192.168.7.7', 'fd12::/32', '2600::5'])

  test('contains its addresses, also in IPv4-mapped form, and no others', () => {
    for (const address of ['10.1.0.0', '10.1.255.255', '192.168.7.7', 'fd12:0:1::9', '2600::5', '::ffff:10.1.2.3'])
      expect([address, networks.has(address)]).toEqual([address, true])
    for (const address of ['10.0.255.255', '10.2.0.0', '192.168.7.8', 'fd13::1', '2600::6', '::ffff:10.2.0.1', '::1'])
      expect([address, networks.has(address)]).toEqual([address, false])
  })

  test('contains nothing when it is empty', () => {
    expect(networksOf([]).has('10.0.0.1')).toBe(false)
  })
})

import { expect, test } from 'vitest'
import { isLoopback, isLoopbackAddress } from './loopback.ts'

const addresses = ['127.0.0.1', '127.9.9.9', '127.255.255.255', '::1', '[::1]']

test.each([...addresses, 'localhost', 'LOCALHOST'])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true)
  expect(isLoopbackAddress(host)).toBe(addresses.includes(host))
})

test.each([
  ...['127.db.example.com', '127.0.0.1.example.com', 'localhost.example.com', 'db.localhost', '127.com', '127.'],
  ...[
    '127.0.0.256',
    '127.0.0.01',
    '127.1',
    '0x7f.0.0.1',
    '128.0.0.1',
    '10.0.0.1',
    '::2',
    '::ffff:127.0.0.1',
    '::1%1',
    '0::1',
  ],
  ...['', '[]', '[127.0.0.1', '::1]@example.com', '127.0.0.1\n', '127.0.0.1:80', '[::1]:80', ':', ':::1'],
])('%j is not this machine', (host) => {
  expect(isLoopback(host)).toBe(false)
  expect(isLoopbackAddress(host)).toBe(false)
})

test('an address in any spelling is recognised after the URL parser has normalized it', () => {
  for (const address of ['127.1', '0x7f.0.0.1', '2130706433', '[0:0::1]'])
    expect(isLoopback(new URL(`http://${address}`).hostname)).toBe(true)
})

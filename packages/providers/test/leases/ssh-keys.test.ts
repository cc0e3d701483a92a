import { createPrivateKey, createPublicKey } from 'node:crypto'
import { expect, it } from 'vitest'
import { readCaKey } from '../../src/leases/ssh-keys.ts'

it('an Ed25519 authority is read correctly, whatever the first byte of its seed is', () => {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  for (const first of [0x00, 0x01, 0x80, 0xff]) {
    const seed = Buffer.alloc(32, 0x2f).fill(first, 0, 1)
    const key = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' })
    const { privateKey } = readCaKey(key.export({ type: 'pkcs8', format: 'pem' }) as string)
    expect(createPublicKey(privateKey).equals(createPublicKey(key))).toBe(true)
  }
})

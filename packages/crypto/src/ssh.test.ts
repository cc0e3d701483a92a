import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { newSshKeyPair, readSshCertificate } from './ssh.ts'

/** Made with `ssh-keygen -s ca -I lea_1 -n deploy,backup -V 20300101000000Z:20300101010000Z -z 77 -O clear -O permit-pty -O force-command=uptime key.pub`. */
const certificate =
  'ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAILBteOVwl1TtPAzaf1dH/mf5xE1DRXOBt+SkrW2BUxAUAAAAIASn4LOxkhmJBUQ8UI4+czyifX7kqVEF1Nf5SWqSzRh1AAAAAAAAAE0AAAABAAAABWxlYV8xAAAAFAAAAAZkZXBsb3kAAAAGYmFja3VwAAAAAHDb2IAAAAAAcNvmkAAAAB8AAAANZm9yY2UtY29tbWFuZAAAAAoAAAAGdXB0aW1lAAAAEgAAAApwZXJtaXQtcHR5AAAAAAAAAAAAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIAPtE4C2hbRHHlmCudz3aBwr7euhyWutcOR5mUjMUt+QAAAAUwAAAAtzc2gtZWQyNTUxOQAAAEA/vNmjyKvQFXrTngtIqgZAVr7KE3kd6DhBPXA7FM9Q+ImT6QARJGSaiNt0Fybt4hOw85t+ohvxZwJvAh8bDw4K'
const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIASn4LOxkhmJBUQ8UI4+czyifX7kqVEF1Nf5SWqSzRh1'
const ca = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAPtE4C2hbRHHlmCudz3aBwr7euhyWutcOR5mUjMUt+Q'

test('a key is in the format that ssh reads, and its two halves match', async () => {
  const { publicKey, privateKey } = await newSshKeyPair()
  const bytes = Buffer.from(privateKey.replace(/-----.*-----/g, ''), 'base64')
  expect(bytes.subarray(0, 15).toString()).toBe('openssh-key-v1\0')
  const blob = Buffer.from(publicKey.split(' ')[1]!, 'base64')
  expect(publicKey).toMatch(/^ssh-ed25519 [A-Za-z0-9+/]{68}$/)
  expect(bytes.indexOf(blob)).toBeGreaterThan(0)
  // In the private part, the seed is before the second copy of the point.
  const point = blob.subarray(-32)
  const seed = bytes.subarray(bytes.lastIndexOf(point) - 32, bytes.lastIndexOf(point))
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const imported = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  expect(Buffer.from(createPublicKey(imported).export({ format: 'jwk' }).x!, 'base64url')).toEqual(Buffer.from(point))
  expect(verify(null, Buffer.from('x'), createPublicKey(imported), sign(null, Buffer.from('x'), imported))).toBe(true)
  expect((await newSshKeyPair()).publicKey).not.toBe(publicKey)
})

test('a certificate is parsed as ssh-keygen wrote it', () => {
  expect(readSshCertificate(certificate)).toEqual({
    publicKey: key,
    serial: 77n,
    keyId: 'lea_1',
    principals: ['deploy', 'backup'],
    validAfterSeconds: Date.UTC(2030, 0, 1) / 1000,
    validBeforeSeconds: Date.UTC(2030, 0, 1, 1) / 1000,
    criticalOptions: ['force-command'],
    extensions: ['permit-pty'],
    caPublicKey: ca,
  })
})

test.each([
  ['a public key', key],
  ['a truncated certificate', certificate.slice(0, 300)],
  [
    'a certificate with bytes after its end',
    certificate.replace(/[A-Za-z0-9+/]+={0,2}$/, (text) => `${text.replace(/=+$/, '')}AAAA`),
  ],
  ['an empty text', ''],
])('%s is refused as a certificate', (_, line) => {
  expect(() => readSshCertificate(line)).toThrow(expect.objectContaining({ name: 'CryptoError' }))
})

import { generateKeyPairSync, randomBytes } from 'node:crypto'

// Well-formed opaque blobs. The server checks only prefix and segment count, so suites about its rules need no keys.

const segment = (bytes: number) => randomBytes(bytes).toString('base64url')

/** A key that the owner of this public key wrapped to themselves. */
export const ownWrappedKey = (publicKeyJwk: string) => {
  const { x, y } = JSON.parse(publicKeyJwk)
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  return wrappedKey().replace(/^wd1\.[^.]+/, `wd1.${point.toString('base64url')}`)
}
export const wrappedKey = () => `wd1.${segment(65)}.${segment(16)}.${segment(12)}.${segment(48)}`
export const ciphertext = (bytes = 24) => `sc1.${segment(12)}.${segment(bytes + 16)}`
export const sealedDetails = (bytes = 60) => `sd1.${segment(12)}.${segment(bytes)}`
export const sealedFormerNames = (bytes = 60) => `sn1.${segment(12)}.${segment(bytes)}`
export const sealedOverride = (bytes = 60) => `so1.${segment(12)}.${segment(bytes)}`
export const publicKeyJwk = () =>
  JSON.stringify(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }))
/** A key of the right form that is not on the curve. */
export const offCurveJwk = () => JSON.stringify({ kty: 'EC', crv: 'P-256', x: segment(32), y: segment(32) })
export const sealedPrivateKey = () => `pk1.65536-3-1.${segment(16)}.${segment(12)}.${segment(154)}`
export const kitSealedKey = () => `pk3.${segment(16)}.${segment(12)}.${segment(154)}`
export const bearerSecret = () => segment(32)
export const newPasskeyBody = () => ({
  credentialId: segment(32),
  label: 'a key',
  prfInput: segment(32),
  encryptedPrivateKey: `pk2.${segment(16)}.${segment(12)}.${segment(154)}`,
})

import { Type } from 'typebox'

/** 32 bytes in base64, as RFC 6962 and the C2SP notes write hashes. */
export const Hash = Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$', description: 'A hash of 32 bytes, in base64' })
